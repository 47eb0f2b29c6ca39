import { backupPath } from "@sluice/contract";
import { send } from "../../client/call.ts";
import { Problem } from "../../client/problem.ts";
import { t } from "../../language/areas/settings.ts";

export interface Backup {
  readonly content: Blob;
  readonly name: string;
}

export interface BackupProgress {
  readonly received: number;
  /** null: the gateway did not report it. */
  readonly total: number | null;
}

/** Pieces up to this size are collected before they become a Blob, because browsers move Blobs to disk. */
const bundleBytes = 16 * 1_024 * 1_024;

/** Creates a backup and downloads it. An incomplete download is discarded. */
export async function takeBackup(signal: AbortSignal, onProgress: (progress: BackupProgress) => void): Promise<Backup> {
  const response = await send(backupPath, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
    signal,
  });
  const total = lengthOf(response.headers);
  const bundles: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let waiting = 0;
  let received = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    waiting += value.byteLength;
    received += value.byteLength;
    if (waiting >= bundleBytes) {
      bundles.push(new Blob(pieces));
      pieces = [];
      waiting = 0;
    }
    onProgress({ received, total });
  }
  if (total !== null && received !== total) {
    throw new Problem("upstream_truncated", t("settings.backup.cut", { received, total }));
  }
  const type = response.headers.get("content-type") ?? "application/octet-stream";
  return { content: new Blob([...bundles, ...pieces], { type }), name: nameOf(response.headers) };
}

function lengthOf(headers: Headers): number | null {
  const length = Number(headers.get("content-length") ?? Number.NaN);
  return Number.isSafeInteger(length) ? length : null;
}

/** The file name from the gateway, if it is safe. */
export function nameOf(headers: Headers): string {
  const name = /filename="([A-Za-z0-9][\w.-]{0,127})"/.exec(headers.get("content-disposition") ?? "")?.[1];
  return name ?? "sluice.sqlite";
}
