import { expect, test } from "bun:test";
import type { RequestRow } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import type { Broadcast, BroadcastTopic } from "#ports/index.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { SharedTail } from "./shared-tail.ts";

/** Delivers broadcasts to all processes except the sender. With `lose`, they are lost. */
class Processes {
  readonly clock = new FakeClock();
  readonly sent: { readonly topic: BroadcastTopic; readonly text: string }[] = [];
  readonly #listeners: {
    readonly from: string;
    readonly topic: BroadcastTopic;
    readonly receive: (text: string) => void;
  }[] = [];
  lose = false;

  broadcast(from: string): Pick<Broadcast, "send" | "subscribe"> {
    return {
      send: (topic, text) => {
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bounds.broadcastTextBytesMax - 100);
        this.sent.push({ topic, text });
        if (this.lose) return;
        for (const one of this.#listeners) if (one.from !== from && one.topic === topic) one.receive(text);
      },
      subscribe: (topic, receive) => {
        const one = { from, topic, receive };
        this.#listeners.push(one);
        return () => void this.#listeners.splice(this.#listeners.indexOf(one), 1);
      },
    };
  }

  process(instanceId: string) {
    const rows: string[] = [];
    const dropped: [string | null, number][] = [];
    const tail = new SharedTail({
      broadcast: this.broadcast(instanceId),
      instanceId,
      clock: this.clock,
      onRow: (row) => rows.push(row.attempt_id),
      onDropped: (workspaceId, count) => dropped.push([workspaceId, count]),
    });
    /** Ends a request as the observer does. */
    const end = (attemptId: string, workspaceId = "ws_1"): void => {
      if (tail.isWatched && tail.watches(workspaceId)) tail.publish(row(attemptId, workspaceId));
    };
    return { tail, rows, dropped, end };
  }
}

function row(attempt_id: string, workspaceId: string): RequestRow {
  const more: Partial<RequestRow> = { model: "m".repeat(300) };
  return {
    ...more,
    attempt_id,
    workspace: { id: workspaceId, slug: "acme" },
    key: { id: "key_1", name: "" },
  } as RequestRow;
}

test("sends nothing without a view, and rows of every process with one", () => {
  const processes = new Processes();
  const [one, two, three] = [processes.process("proc_1"), processes.process("proc_2"), processes.process("proc_3")];
  one.end("att_0");
  expect([processes.sent.length, processes.clock.pending]).toEqual([0, 0]);
  two.tail.watch(new Set(["ws_1"]));
  for (const process of [one, three]) {
    process.end(process === one ? "att_1" : "att_3");
    process.end("att_other", "ws_2");
  }
  processes.clock.advance(bounds.tailBatchMs);
  expect([one.rows, two.rows, three.rows]).toEqual([[], ["att_1", "att_3"], []]);
  expect(two.dropped).toEqual([]);
});

test("discards queued rows and stops sending when the last view closes", () => {
  const processes = new Processes();
  const [one, two] = [processes.process("proc_1"), processes.process("proc_2")];
  two.tail.watch(new Set([null]));
  one.end("att_1");
  two.tail.watch(new Set());
  const sent = processes.sent.length;
  one.end("att_2");
  expect(one.tail.isWatched).toBe(false);
  processes.clock.advance(bounds.tailWatchMs * 2);
  expect([processes.sent.length, processes.clock.pending, two.rows]).toEqual([sent, 0, []]);
});

test("repeats the announcement of a view, and forgets a process that died", () => {
  const processes = new Processes();
  const [one, two] = [processes.process("proc_1"), processes.process("proc_2")];
  two.tail.watch(new Set([null]));
  for (let n = 0; n < 9; n++) processes.clock.advance(bounds.tailWatchMs);
  one.end("att_1");
  processes.clock.advance(bounds.tailBatchMs);
  expect(two.rows).toEqual(["att_1"]);
  // A process that starts learns of the view with the next announcement.
  const late = processes.process("proc_3");
  expect(late.tail.isWatched).toBe(false);
  processes.clock.advance(bounds.tailWatchMs);
  expect(late.tail.isWatched).toBe(true);
  processes.lose = true;
  processes.clock.advance(bounds.tailWatchedMs);
  const sent = processes.sent.length;
  one.end("att_2");
  expect([one.tail.isWatched, processes.sent.length]).toEqual([false, sent]);
});

test("sends a bounded number of rows of a burst, and the number of the others", () => {
  const processes = new Processes();
  const [one, two] = [processes.process("proc_1"), processes.process("proc_2")];
  two.tail.watch(new Set([null]));
  const count = bounds.tailBatchRowsMax + 25;
  for (let n = 0; n < count; n++) one.end(`att_${n}`, n % 5 === 0 ? "ws_5" : "ws_1");
  processes.clock.advance(bounds.tailBatchMs);
  expect(two.rows).toEqual(Array.from({ length: bounds.tailBatchRowsMax }, (_, n) => `att_${n}`));
  expect(two.dropped).toEqual([
    ["ws_5", 5],
    ["ws_1", 20],
  ]);
  one.end("att_later");
  processes.clock.advance(bounds.tailBatchMs);
  expect(two.rows.at(-1)).toBe("att_later");
});

test("detects lost messages with the next one", () => {
  const processes = new Processes();
  const [one, two] = [processes.process("proc_1"), processes.process("proc_2")];
  two.tail.watch(new Set([null]));
  const end = (name: string): void => {
    one.end(name);
    processes.clock.advance(bounds.tailBatchMs);
  };
  end("att_1");
  processes.lose = true;
  end("att_2");
  end("att_3");
  processes.lose = false;
  end("att_4");
  expect([two.rows, two.dropped]).toEqual([["att_1", "att_4"], [[null, 2]]]);
  // Messages from a time without a view here are not lost.
  two.tail.watch(new Set());
  const three = processes.process("proc_3");
  three.tail.watch(new Set([null]));
  end("att_5");
  two.tail.watch(new Set([null]));
  end("att_6");
  expect([two.rows.at(-1), two.dropped.length]).toEqual(["att_6", 1]);
});

test.each([
  "",
  "nonsense",
  "null",
  "[]",
  '{"from":1}',
  '{"from":"x","workspaces":7}',
  '{"from":"x","before":0,"rows":[null,1,{}],"dropped":[null,["a"]]}',
  '{"from":"x","before":0,"rows":[{"attempt_id":"a\\n\\ndata: {}","workspace":{"id":"w"},"key":{"id":"k"}}],"dropped":[]}',
])("ignores messages of other versions: %p", (text) => {
  const processes = new Processes();
  const two = processes.process("proc_2");
  two.tail.watch(new Set([null]));
  const stranger = processes.broadcast("proc_9");
  for (const topic of ["watch", "row"] as const) stranger.send(topic, text);
  expect([two.rows, two.dropped, two.tail.isWatched]).toEqual([[], [], false]);
});
