/** Paths of the admin API that do not send and return JSON, and so are not in the table of routes. */
const step = encodeURIComponent;

/** The data plane with a workspace's key, for a signed-in member. Append paths such as `/v1/chat/completions`. */
export function asKeyPath(workspace: string, key: string): string {
  return `/api/workspaces/${step(workspace)}/keys/${step(key)}/call`;
}

export function taskContentPath(workspace: string, task: string): string {
  return `/api/workspaces/${step(workspace)}/video-tasks/${step(task)}/content`;
}

export function assetContentPath(workspace: string, asset: string): string {
  return `/api/workspaces/${step(workspace)}/assets/${step(asset)}/content`;
}

/** The bytes of a file, as an attachment. Accepts `range`. */
export function fileContentPath(workspace: string, file: string): string {
  return `/api/workspaces/${step(workspace)}/files/${step(file)}/content`;
}

/** The rows of a batch's result, as JSON lines. OpenAI's batches have two files; others have all rows in `output`. */
export function batchResultPath(workspace: string, batch: string, part: "output" | "errors"): string {
  return `/api/workspaces/${step(workspace)}/batches/${step(batch)}/results/${step(part)}`;
}

/** Requests as they end: server-sent events with a `RequestRow` as data. */
export function tailPath(workspace: string): string {
  return `/api/workspaces/${step(workspace)}/requests/tail`;
}

/** CSV of the requests that match the filters of `requests.list`. */
export function requestsCsvPath(workspace: string): string {
  return `/api/workspaces/${step(workspace)}/requests/csv`;
}

/** CSV of the checks that match the filters of `guardrails.checks`. */
export function guardrailChecksCsvPath(workspace: string): string {
  return `/api/workspaces/${step(workspace)}/guardrail-checks/csv`;
}

/** CSV of all rows of `usage.rows`. */
export function usageCsvPath(workspace: string): string {
  return `/api/workspaces/${step(workspace)}/usage/rows/csv`;
}

/** CSV of `usage.chargeback`. */
export function chargebackCsvPath(workspace: string): string {
  return `/api/workspaces/${step(workspace)}/usage/chargeback/csv`;
}

/** Costs and usage by day as FOCUS CSV. Query: see `focusQuery`. */
export const focusPath = "/api/exports/focus";

/** POST: streams a copy of the current database. Administrators with a fresh session only. */
export const backupPath = "/api/backup";
