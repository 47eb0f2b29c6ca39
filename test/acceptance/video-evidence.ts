import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TruthRecord } from "@sluice/simulator";
import type { CreateRequest, ShownTask, VideoRow } from "./judge-videos.ts";
import type { Gateway } from "./start-gateway.ts";
import { imageBytes, isLarge } from "./video-orders.ts";

/** The number of tasks that were due by this time (Unix milliseconds) and have not been polled. */
export type TasksDue = (byMs: number) => Promise<number>;

/** For an installation with SQLite. */
export function tasksDueInSqlite(dataDir: string): TasksDue {
  return async (byMs) => {
    const database = new Database(join(dataDir, "sluice.db"), { readonly: true });
    try {
      const count = database.query<{ tasks: number }, [number]>(
        "select count(*) as tasks from tasks where final = 0 and due_at <= ?",
      );
      return count.get(byMs)?.tasks ?? 0;
    } finally {
      database.close();
    }
  };
}

/** For gateways that share a PostgreSQL database. */
export function tasksDueInPostgres(sql: Bun.SQL): TasksDue {
  return async (byMs) => {
    const [row] = await sql`select count(*)::int as tasks from tasks where final = 0 and due_at <= ${byMs}`;
    return row.tasks;
  };
}

interface TaskList {
  readonly data: readonly ShownTask[];
  readonly next: string | null;
}

/** All tasks of a key's workspace, as the API shows them. */
export async function allTasks(url: string, key: string): Promise<readonly ShownTask[]> {
  const all: ShownTask[] = [];
  let after = "";
  do {
    const answer = await fetch(`${url}/v1/video/tasks?limit=100${after}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    if (!answer.ok) throw new Error(`GET /v1/video/tasks: ${answer.status} ${await answer.text()}`);
    const page = (await answer.json()) as TaskList;
    all.push(...page.data);
    after = page.next === null ? "" : `&after=${encodeURIComponent(page.next)}`;
  } while (after !== "");
  return all;
}

export function isOpen({ status }: ShownTask): boolean {
  return status === "queued" || status === "running";
}

export async function allRows(gateway: Gateway): Promise<readonly VideoRow[]> {
  const { status, stdout, stderr } = await gateway.cli("ledger", "export", "--json");
  if (status !== 0) throw new Error(`sluice ledger export: ${stderr}`);
  return lines(stdout);
}

export type SentRequest = CreateRequest & Pick<TruthRecord, "body_bytes">;

/** Every create request that reached a vendor, from a file of the simulator's records. */
export function readRequests(file: string): readonly SentRequest[] {
  const creates = /\/(?:contents\/generations\/tasks|videos)$/;
  const all: readonly TruthRecord[] = lines(readFileSync(file, "utf8"));
  return all.filter(({ method, path }) => method === "POST" && creates.test(path));
}

export interface ImageCounts {
  /** Requests with an inline image that reached a vendor, and how many of them were too short to contain it. */
  readonly sent: number;
  readonly truncated: number;
}

export function imagesIn(requests: readonly SentRequest[], rows: readonly VideoRow[]): ImageCounts {
  const large = new Set(rows.filter(({ tags }) => isLarge(Number(tags["order"]))).map((row) => row.attempt_id));
  const sent = requests.filter(({ attempt_id }) => large.has(attempt_id));
  return { sent: sent.length, truncated: sent.filter(({ body_bytes }) => body_bytes < imageBytes).length };
}

function lines<T>(text: string): readonly T[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): T => JSON.parse(line));
}
