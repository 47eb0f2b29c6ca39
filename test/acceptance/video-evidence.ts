import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TruthRecord } from "@sluice/simulator";
import type { CreateRequest, ShownTask, VideoRow } from "./judge-videos.ts";
import type { Gateway } from "./start-gateway.ts";
import { isLarge, pictureBytes } from "./video-orders.ts";

/** How many tasks that were due by then (Unix milliseconds) nobody has looked at yet. */
export type TasksDue = (byMs: number) => Promise<number>;

/** Of an embedded installation. */
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

/** Of processes that share a PostgreSQL. */
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

/** All tasks of a key's workspace, as its callers are shown them. */
export async function everyTask(url: string, key: string): Promise<readonly ShownTask[]> {
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

export async function everyRow(gateway: Gateway): Promise<readonly VideoRow[]> {
  const { status, stdout, stderr } = await gateway.cli("ledger", "export", "--json");
  if (status !== 0) throw new Error(`sluice ledger export: ${stderr}`);
  return lines(stdout);
}

export type SentRequest = CreateRequest & Pick<TruthRecord, "body_bytes">;

/** Every request to make a video that reached a vendor, of a file of the simulator's truth. */
export function readRequests(file: string): readonly SentRequest[] {
  const creates = /\/(?:contents\/generations\/tasks|videos)$/;
  const all: readonly TruthRecord[] = lines(readFileSync(file, "utf8"));
  return all.filter(({ method, path }) => method === "POST" && creates.test(path));
}

export interface PicturesSeen {
  /** Requests with a picture inside that reached a vendor, and how many of them were too short to hold it. */
  readonly sent: number;
  readonly cut: number;
}

export function picturesIn(requests: readonly SentRequest[], rows: readonly VideoRow[]): PicturesSeen {
  const large = new Set(rows.filter(({ tags }) => isLarge(Number(tags["order"]))).map((row) => row.attempt_id));
  const sent = requests.filter(({ attempt_id }) => large.has(attempt_id));
  return { sent: sent.length, cut: sent.filter(({ body_bytes }) => body_bytes < pictureBytes).length };
}

function lines<T>(text: string): readonly T[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): T => JSON.parse(line));
}
