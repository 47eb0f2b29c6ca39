import { bounds, Failure, type Provider, storedFileId } from "#core/index.ts";
import { type Edit, isObject, type JsonObject, type NamedObject, parseObject, splicedForm } from "#protocols/index.ts";
import { fileApiOf, passesMember } from "#providers/index.ts";
import { guessInput } from "../attempt/hold.ts";
import { findNamedFiles } from "../attempt/named-files.ts";
import type { RelayDependencies } from "../call.ts";
import { checkNamedFiles } from "../checked-file.ts";
import type { PassThroughCall, PassThroughField } from "../pass-through/pass-through-call.ts";

/**
 * Checks what the body of a call for a vendor's object names, except objects of the account: finds the workspace's files, and refuses
 * hosts that a container may reach. Throws Failure.
 */
export async function checkObjectBody(
  dependencies: RelayDependencies,
  { call, route, body }: PassThroughCall,
  named: readonly NamedObject[],
): Promise<void> {
  await checkOwnFiles(dependencies, { call }, named);
  if (route.owned?.endpoint.collection !== "containers" || !(body instanceof Uint8Array)) return;
  const policy = parseObject(new TextDecoder().decode(body))?.["network_policy"];
  if (policy === undefined || policy === null || (isObject(policy) && policy["type"] === "disabled")) return;
  checkNetwork(route.provider, "network_policy");
}

/** Throws Failure if the containers of this account may not reach hosts. */
export function checkNetwork(provider: Provider, param: string): void {
  if (passesMember(provider, "network_policy")) return;
  throw new Failure(
    "invalid_request",
    "Containers reach no network here: leave network_policy out, or ask the gateway's operator for it.",
    { param, retry: "other" },
  );
}

/**
 * Finds the workspace's files that a body names, and checks them with the guardrails. Throws Failure not_found, the same for a file of
 * another workspace.
 */
export async function checkOwnFiles(
  dependencies: RelayDependencies,
  { call }: Pick<PassThroughCall, "call">,
  named: readonly NamedObject[],
): Promise<void> {
  const files = named.flatMap((object) =>
    storedFileId(object.id) === null ? [] : [{ ...object, kind: "file" as const }],
  );
  await findNamedFiles(dependencies, call, files);
  await checkNamedFiles(dependencies, call);
}

/** The call with the names of its account's copies in place of the workspace's files. Files are uploaded first. Throws Failure. */
export async function withFileCopies(
  dependencies: RelayDependencies,
  original: PassThroughCall,
): Promise<PassThroughCall> {
  const { call, route, body, fields } = original;
  const inPath = route.owned?.fileNames ?? new Map<string, string>();
  if (call.files === undefined || body === null) {
    return inPath.size === 0 ? original : { ...original, fileNames: inPath };
  }
  const { provider } = route;
  const api = fileApiOf(provider.kind);
  if (api === null) throw new Failure("unsupported_by_model", "The provider stores no files.", { param: "file_id" });
  const { copies } = dependencies.files();
  const names = new Map(inPath);
  await Promise.all(
    [...call.files].map(async ([name, file]) => {
      names.set(name, (await copies.at(file, provider, api, call.signal)).uri);
    }),
  );
  if (!(body instanceof Uint8Array)) {
    const edits = (fields ?? []).flatMap((field) => renamedField(field, names));
    return { ...original, form: splicedForm(body, edits), fileNames: names };
  }
  const read = parseObject(new TextDecoder().decode(body));
  if (read === null) {
    const why = "Files of the gateway can only be named in forms, and in JSON without content-encoding.";
    throw new Failure("invalid_request", why, { param: "body" });
  }
  return { ...original, body: new TextEncoder().encode(JSON.stringify(renamed(read, names))), fileNames: names };
}

/** The change to a field that has a name as its text, or JSON with names. */
function renamedField({ text, span }: PassThroughField, names: ReadonlyMap<string, string>): readonly Edit[] {
  if (text === null) return [];
  const name = names.get(text);
  if (name !== undefined) return [{ ...span, text: name }];
  const value = /^\s*[[{]/.test(text) ? parseObject(`{"value":${text}}`)?.["value"] : undefined;
  if (value === undefined) return [];
  const written = JSON.stringify(renamed(value, names));
  return written === JSON.stringify(value) ? [] : [{ ...span, text: written }];
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => renamed(one, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, member]) => [
      name,
      name === "metadata" ? member : renamed(member, names),
    ]),
  );
}

/** Ids of the account's copies in a JSON answer become the names that the caller used. */
export function withOwnNames(body: Uint8Array, { fileNames }: PassThroughCall): Uint8Array {
  if (fileNames === undefined || body.length > bounds.replyInPlaceBytesMax) return body;
  const back = new Map([...fileNames].map(([name, copy]) => [copy, name]));
  const read = parseObject(new TextDecoder().decode(body));
  return read === null ? body : new TextEncoder().encode(JSON.stringify(renamed(read, back)));
}

/**
 * Input tokens of a conversation after a call that created it or added items: an estimate by the bytes, with a margin. Input of unknown size
 * fills every context window.
 */
export function conversationTokens({ call, route, body }: PassThroughCall): number {
  const before = route.owned?.object === null ? 0 : (route.owned?.object?.inputTokens ?? unknownTokens);
  if (body === null) return before;
  if (!(body instanceof Uint8Array)) return unknownTokens;
  if (seesMore.test(Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"))) return unknownTokens;
  const { text, image, audio } = guessInput({ facts: call.facts, body });
  return Math.min(unknownTokens, before + text + image + audio);
}

/** Files and media by their address. */
const seesMore = /"(?:file_id|file_url|item_reference)"|"image_url"\s*:\s*(?!"data:|null)/;
/** More than every context window has. */
const unknownTokens = 1_000_000_000;
