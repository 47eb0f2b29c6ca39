import type { BatchDetail, ConsoleBatch } from "@sluice/contract";
import {
  type Batch,
  type BatchState,
  batchIdIn,
  batchRequestId,
  columnsOf,
  Failure,
  finalBatchStates,
  nanoToUsd,
  withoutUndefined,
} from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, mayReadContent, type Viewer, visiblePerson } from "./callers.ts";
import { type ConsoleCall, type Handlers, oneWorkspace, pageSize, type StreamingCall } from "./calls.ts";
import { keyNames } from "./key-names.ts";

const failedRowsMax = 50;
const openStates: readonly BatchState[] = ["in_progress", "canceling", "finalizing"];

export function batchHandlers(dependencies: ConsoleDependencies) {
  const { batches, people, configSnapshot } = dependencies;
  const { nameOf, namesOf } = keyNames(dependencies);
  const view = (batch: Batch, keyName: string) =>
    batchView(batch, keyName, configSnapshot().workspaces.get(batch.workspaceId)?.slug ?? "");
  return {
    async "batches.list"(call) {
      const { state, model, key: keyId, person: personId, cursor = null, limit = pageSize } = call.query;
      checkPerson(call, personId);
      const states = state === undefined ? undefined : state === "open" ? openStates : [state];
      const filter = {
        workspaceId: call.workspace?.id ?? null,
        ...withoutUndefined({ states, model, keyId, personId, visiblePerson: visiblePerson(call) ?? undefined }),
      };
      const page = await batches.page(filter, { after: cursor }, limit);
      const names = await namesOf(page.batches.map((batch) => batch.keyId));
      return { data: page.batches.map((batch) => view(batch, names.get(batch.keyId) ?? "")), next: page.next };
    },
    async "batches.show"(call) {
      const batch = await visibleBatch(call, dependencies, call.params.batch);
      const [{ reservedNanoUsd, failed }, keyName, mayRead] = await Promise.all([
        batches.facts(batch, failedRowsMax),
        nameOf(batch.keyId),
        mayReadContent(call, dependencies, batch),
      ]);
      const isEnded = finalBatchStates.has(batch.state);
      return {
        ...view(batch, keyName),
        reserved_usd: nanoToUsd(reservedNanoUsd),
        input_file: batch.inputFileId === null ? null : `file-${batch.inputFileId}`,
        metadata: batch.metadata,
        cancel_at: batch.cancelAt,
        results: isEnded && mayRead ? resultsOf(batch) : [],
        results_until: isEnded ? batch.deleteAt : null,
        problems: batch.errors.map(({ line, code, message }) => ({ line, code, message })),
        failed_rows: failed.map(({ position, customId, status, code }) => ({
          ...{ row: position + 1, custom_id: customId, status, code },
          request_id: batchRequestId(batch.id, position),
        })),
      };
    },
    async "batches.cancel"(call) {
      const { id, api } = await visibleBatch(call, dependencies, call.params.batch);
      const workspaceId = oneWorkspace(call).id;
      const batch = await batches.cancel(workspaceId, api, id);
      await people.note({ action: "cancel", object: `batch ${id}`, workspaceId }, call.auditSource);
      return view(batch, await nameOf(batch.keyId));
    },
  } satisfies Partial<Handlers>;
}

type BatchCall = Viewer & Pick<ConsoleCall<"batches.show"> | StreamingCall, "workspace">;

/** Throws `not_found` also if the viewer may not see the calls of the person who created the batch. */
export async function visibleBatch(call: BatchCall, { batches }: ConsoleDependencies, id: string): Promise<Batch> {
  const batch = await batches.find(oneWorkspace(call).id, id);
  const own = visiblePerson(call);
  if (batch !== null && (own === null || (batch.personId ?? own) === own)) return batch;
  throw new Failure("not_found", "There is no batch with this id in the workspace.", { param: "batch" });
}

function resultsOf({ api, outputHash, outputFileId, errorFileId }: Batch): BatchDetail["results"] {
  if (api !== "openai") return outputHash === null ? [] : ["output"];
  return [
    ...(outputFileId === null ? [] : (["output"] as const)),
    ...(errorFileId === null ? [] : (["errors"] as const)),
  ];
}

function batchView(batch: Batch, keyName: string, slug: string): ConsoleBatch {
  const { id, api, endpoint, model, provider, createdAt, startedAt, endedAt, expiresAt } = batch;
  const { total, succeeded, errored: failed, canceled, expired, state } = batch;
  // Callers cannot see it in this state.
  if (state === "validating") throw new Error("a batch that is being created is not shown");
  return {
    ...columnsOf({ id, api, endpoint, model, provider, state, createdAt, startedAt, endedAt, expiresAt }),
    api_id: batchIdIn(api, id),
    workspace: { id: batch.workspaceId, slug },
    key: { id: batch.keyId, name: keyName },
    name: batch.displayName,
    rows: { total, succeeded, failed, canceled, expired, open: Math.max(0, openRows(batch)) },
    cost_usd: nanoToUsd(batch.costNanoUsd),
  };
}

function openRows({ state, total, succeeded, errored, canceled, expired }: Batch): number {
  return finalBatchStates.has(state) ? 0 : total - succeeded - errored - canceled - expired;
}
