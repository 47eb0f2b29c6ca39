/** What of the admin API is not JSON in and JSON out, and so stands in no table of routes. */
const step = encodeURIComponent;

/** The data plane as one of a workspace's keys, for a signed-in member: `…/v1/chat/completions` and the rest follow. */
export function asKeyPath(workspace: string, key: string): string {
  return `/api/workspaces/${step(workspace)}/keys/${step(key)}/call`;
}

export function taskContentPath(workspace: string, task: string): string {
  return `/api/workspaces/${step(workspace)}/video-tasks/${step(task)}/content`;
}

export function assetContentPath(workspace: string, asset: string): string {
  return `/api/workspaces/${step(workspace)}/assets/${step(asset)}/content`;
}

/** Live requests as they end, as server-sent events whose data is a `RequestRow`. */
export function tailPath(workspace: string): string {
  return `/api/workspaces/${step(workspace)}/requests/tail`;
}

/** A copy of the database as it stands, streamed; administrators with a fresh session only. POST, not JSON. */
export const backupPath = "/api/backup";
