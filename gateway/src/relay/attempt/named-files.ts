import { outcomeOf, type PutFile } from "#bodies/index.ts";
import {
  bounds,
  type Deployment,
  Failure,
  type HeldMemory,
  noSuchObject,
  type Principal,
  type StoredFile,
  storedFileId,
} from "#core/index.ts";
import { expiredFile } from "#files/index.ts";
import type { NamedObject } from "#protocols/index.ts";
import { allowsObject, fileApiOf } from "#providers/index.ts";
import type { Call, RelayDependencies } from "../call.ts";
import { Warnings } from "../translation/translator.ts";
import { madeBy, workOnBody } from "./body-work.ts";
import { matchLane } from "./lane-match.ts";

/** Sets the files of a call. An operator may have listed a vendor's file of the same form for all workspaces. Throws like `storedFiles`. */
export async function findNamedFiles(
  dependencies: RelayDependencies,
  call: Call,
  objects: readonly NamedObject[] = call.facts.objects ?? [],
): Promise<void> {
  const files = await storedFiles(dependencies, call.principal, objects, (object) => isListed(call, object));
  if (files.size > 0) call.files = files;
}

/**
 * The caller's files that a request names, by the name that it uses. Throws Failure not_found, the same for a file of another workspace,
 * and file_expired.
 */
export async function storedFiles(
  dependencies: Pick<RelayDependencies, "files">,
  { workspace }: Principal,
  objects: readonly NamedObject[],
  isListedObject: (object: NamedObject) => boolean = () => false,
): Promise<ReadonlyMap<string, StoredFile>> {
  const files = new Map<string, StoredFile>();
  const named = objects.filter(({ kind, id }) => kind === "file" && storedFileId(id) !== null);
  if (named.length === 0) return files;
  const ids = new Set(named.map(({ id }) => storedFileId(id) ?? ""));
  if (ids.size > bounds.namedFilesMax) {
    const why = `A call may name ${bounds.namedFilesMax} files.`;
    throw new Failure("invalid_request", why, { param: named[0]?.param ?? null });
  }
  const found = await dependencies.files().find(workspace.id, [...ids]);
  const byId = new Map(found.map((file) => [file.id, file]));
  for (const object of named) {
    const file = byId.get(storedFileId(object.id) ?? "");
    if (file === undefined && isListedObject(object)) continue;
    if (file === undefined) throw noSuchObject(object);
    if (file.status !== "ready") throw expiredFile().with({ param: object.param });
    files.set(object.id, file);
  }
  return files;
}

function isListed({ models }: Call, { id }: NamedObject): boolean {
  return models.some(({ deployments }) => deployments.some(({ provider }) => allowsObject(provider, id)));
}

/**
 * The call as this deployment can serve it: with the names of its account's copies, which are uploaded first, or, where the account
 * stores no files or gets the call translated, with the files inside the body. `place` accounts for their memory. Throws Failure.
 */
export async function callWithFiles(
  dependencies: RelayDependencies,
  call: Call,
  deployment: Deployment,
  tally: { awayMs: number },
  place: HeldMemory,
): Promise<Call> {
  const files = [...(call.files ?? [])];
  const { clock } = dependencies;
  const beganMs = clock.monotonic();
  const { provider } = deployment;
  const match = matchLane(deployment, call.protocol);
  const api = match === null || match.translated ? null : fileApiOf(provider.kind);
  const { wireDialect: dialect } = call.protocol;
  const copyNames = new Set<string>();
  const beside: Uint8Array[] = [];
  let put: readonly PutFile[];
  if (api?.dialects.includes(dialect) === true) {
    const { copies } = dependencies.files();
    put = await Promise.all(
      files.map(async ([name, file]) => {
        const { uri } = await copies.at(file, provider, api, call.signal);
        copyNames.add(uri);
        return { name, as: uri };
      }),
    );
  } else {
    // As they are, in base64, and within the body.
    place.hold(sizeInside(files.map(([, file]) => file)) * 3);
    // One after the other: their sum is bounded.
    for (const [, file] of files) beside.push(await new Response(await dependencies.files().open(file)).bytes());
    put = files.map(([name, { mediaType, filename }]) => ({ name, as: null, mediaType, filename }));
  }
  tally.awayMs += clock.monotonic() - beganMs;
  return { ...(await withFiles(dependencies, call, put, beside)), copyNames };
}

async function withFiles(
  dependencies: RelayDependencies,
  call: Call,
  files: readonly PutFile[],
  beside: readonly Uint8Array[],
): Promise<Call> {
  const { endpoint, wireDialect: dialect } = call.protocol;
  const { facts, principal: owner, signal } = call;
  const parts = { dependencies, call, warnings: new Warnings() };
  const body = madeBy(await workOnBody(parts, "put-files", { dialect, files }, { beside }));
  const path = facts.modelSpan === null ? { model: facts.model, stream: facts.stream } : null;
  const read = await dependencies.bodies.do("read", { endpoint, dialect, path }, body, { signal, owner });
  const { answer } = outcomeOf(read);
  const { files: _files, ...rest } = call;
  return { ...rest, body: read.body, facts: answer.facts, marks: answer.marks };
}

/** Throws Failure unsupported_by_model if the files do not fit inside a call. */
function sizeInside(files: readonly StoredFile[]): number {
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes <= bounds.inlinedFilesBytesMax) return bytes;
  throw new Failure(
    "unsupported_by_model",
    `The provider of this model stores no files, and the files of this call have ${bytes} bytes; at most ${bounds.inlinedFilesBytesMax} fit inside a request.`,
    { param: "file_id", retry: "other" },
  );
}
