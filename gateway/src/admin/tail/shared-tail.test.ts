import { expect, test } from "bun:test";
import type { RequestRow } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import type { Broadcast, BroadcastTopic } from "#ports/index.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { SharedTail } from "./shared-tail.ts";

/** Words between processes, heard at once by all but their sender; `lose` takes away what is said from then on. */
class Town {
  readonly clock = new FakeClock();
  readonly said: { readonly topic: BroadcastTopic; readonly text: string }[] = [];
  readonly #listeners: {
    readonly from: string;
    readonly topic: BroadcastTopic;
    readonly hear: (text: string) => void;
  }[] = [];
  lose = false;

  broadcast(from: string): Pick<Broadcast, "send" | "subscribe"> {
    return {
      send: (topic, text) => {
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bounds.broadcastTextBytesMax - 100);
        this.said.push({ topic, text });
        if (this.lose) return;
        for (const one of this.#listeners) if (one.from !== from && one.topic === topic) one.hear(text);
      },
      subscribe: (topic, hear) => {
        const one = { from, topic, hear };
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
    /** As whoever ends a request does. */
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

test("while nobody watches nothing is said and nothing is booked, and what is watched is told by every process", () => {
  const town = new Town();
  const [one, two, three] = [town.process("proc_1"), town.process("proc_2"), town.process("proc_3")];
  one.end("att_0");
  expect([town.said.length, town.clock.pending]).toEqual([0, 0]);
  two.tail.watch(new Set(["ws_1"]));
  for (const process of [one, three]) {
    process.end(process === one ? "att_1" : "att_3");
    process.end("att_other", "ws_2");
  }
  town.clock.advance(bounds.tailTellMs);
  expect([one.rows, two.rows, three.rows]).toEqual([[], ["att_1", "att_3"], []]);
  expect(two.dropped).toEqual([]);
});

test("when the last watcher leaves, what waits is forgotten at once and nothing more is said", () => {
  const town = new Town();
  const [one, two] = [town.process("proc_1"), town.process("proc_2")];
  two.tail.watch(new Set([null]));
  one.end("att_1");
  two.tail.watch(new Set());
  const said = town.said.length;
  one.end("att_2");
  expect(one.tail.isWatched).toBe(false);
  town.clock.advance(bounds.tailWatchMs * 2);
  expect([town.said.length, town.clock.pending, two.rows]).toEqual([said, 0, []]);
});

test("a watcher is heard of again and again while it watches, and one that died is forgotten", () => {
  const town = new Town();
  const [one, two] = [town.process("proc_1"), town.process("proc_2")];
  two.tail.watch(new Set([null]));
  for (let n = 0; n < 9; n++) town.clock.advance(bounds.tailWatchMs);
  one.end("att_1");
  town.clock.advance(bounds.tailTellMs);
  expect(two.rows).toEqual(["att_1"]);
  // A process that starts hears of it with the next word.
  const late = town.process("proc_3");
  expect(late.tail.isWatched).toBe(false);
  town.clock.advance(bounds.tailWatchMs);
  expect(late.tail.isWatched).toBe(true);
  town.lose = true;
  town.clock.advance(bounds.tailWatchedMs);
  const said = town.said.length;
  one.end("att_2");
  expect([one.tail.isWatched, town.said.length]).toEqual([false, said]);
});

test("of many requests at once a bounded number is told, in whole words, and of the others how many there were", () => {
  const town = new Town();
  const [one, two] = [town.process("proc_1"), town.process("proc_2")];
  two.tail.watch(new Set([null]));
  const count = bounds.tailTellRowsMax + 25;
  for (let n = 0; n < count; n++) one.end(`att_${n}`, n % 5 === 0 ? "ws_5" : "ws_1");
  town.clock.advance(bounds.tailTellMs);
  expect(two.rows).toEqual(Array.from({ length: bounds.tailTellRowsMax }, (_, n) => `att_${n}`));
  expect(two.dropped).toEqual([
    ["ws_5", 5],
    ["ws_1", 20],
  ]);
  one.end("att_later");
  town.clock.advance(bounds.tailTellMs);
  expect(two.rows.at(-1)).toBe("att_later");
});

test("words that are lost on the way are noticed with the next one", () => {
  const town = new Town();
  const [one, two] = [town.process("proc_1"), town.process("proc_2")];
  two.tail.watch(new Set([null]));
  const end = (name: string): void => {
    one.end(name);
    town.clock.advance(bounds.tailTellMs);
  };
  end("att_1");
  town.lose = true;
  end("att_2");
  end("att_3");
  town.lose = false;
  end("att_4");
  expect([two.rows, two.dropped]).toEqual([["att_1", "att_4"], [[null, 2]]]);
  // What was told while nobody watched here is no loss.
  two.tail.watch(new Set());
  const three = town.process("proc_3");
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
])("what no process of this version says is passed over: %p", (text) => {
  const town = new Town();
  const two = town.process("proc_2");
  two.tail.watch(new Set([null]));
  const stranger = town.broadcast("proc_9");
  for (const topic of ["watch", "row"] as const) stranger.send(topic, text);
  expect([two.rows, two.dropped, two.tail.isWatched]).toEqual([[], [], false]);
});
