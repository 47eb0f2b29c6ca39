import { BoundedMap, bounds, Failure, oncePerObject } from "#core/index.ts";
import type { CallGuard, SidePolicy } from "#guardrails/index.ts";
import { isUtf8Text } from "#protocols/index.ts";
import type { Call, RelayDependencies } from "./call.ts";
import { checkUnchangeable, failed } from "./guarded-call.ts";

export interface UploadedFile {
  readonly filename: string;
  readonly open: () => ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;
}

/**
 * Checks a file that will be used by its id. It cannot be masked: a guardrail that would do so refuses it. A long text is checked in
 * windows that overlap, so that no value is cut. Throws or rejects with Failure.
 */
export async function checkFile(guard: CallGuard, { filename, open }: UploadedFile): Promise<void> {
  if (guard.side("input").all.length === 0) return;
  await checkUnchangeable(guard, { filename }, "names of files");
  const reader = (await open()).getReader();
  let window: Uint8Array = new Uint8Array(0);
  let checked = 0;
  try {
    for (;;) {
      const piece = await reader.read();
      if (!piece.done) window = Buffer.concat([window, piece.value]);
      if (!piece.done && window.length < bounds.fileCheckWindowBytes) continue;
      const text = piece.done ? window : wholeCharacters(window);
      if (text.length > 0 && !isUtf8Text(text)) return guard.unreadable("input");
      if (text.length > 0) await checkWindow(guard, text);
      if (piece.done) return;
      checked += text.length;
      if (checked >= bounds.fileCheckBytesMax) return failed(guard, "input", "the file is too long");
      window = window.slice(startOfCharacter(window, text.length - bounds.fileCheckOverlapBytes));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Files without a refusal, by id. */
const checkedFiles = oncePerObject((_policy: SidePolicy) => new BoundedMap<string, true>(bounds.upstreamObjectsMax));

/** Checks the files that a call names, because another key may have uploaded them, or before a guardrail existed. Each is read once for a policy. */
export async function checkNamedFiles(
  { files }: Pick<RelayDependencies, "files">,
  { guard, files: named }: Pick<Call, "guard" | "files">,
): Promise<void> {
  if (guard === undefined || named === undefined) return;
  const checked = checkedFiles(guard.side("input"));
  for (const file of named.values()) {
    if (checked.get(file.id) === true) continue;
    await checkFile(guard, { filename: file.filename, open: () => files().open(file) });
    checked.set(file.id, true);
  }
}

async function checkWindow(guard: CallGuard, text: Uint8Array): Promise<void> {
  // The check may move its bytes to a thread.
  if (Buffer.from(await guard.checkText("input", Buffer.from(text))).equals(text)) return;
  throw new Failure("guardrail_blocked", "A guardrail masks something in this file, and files cannot be changed.");
}

/** Without a character that is cut at the end. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  const last = startOfCharacter(bytes, bytes.length - 1);
  return bytes.subarray(0, last);
}

/** The first byte of the UTF-8 character at an offset. */
function startOfCharacter(bytes: Uint8Array, offset: number): number {
  let at = offset;
  for (let steps = 0; steps < 3 && at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80; steps++) at--;
  return at;
}
