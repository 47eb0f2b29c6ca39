import { expect, test } from "bun:test";
import { beforeOf, stillBefore } from "./before.ts";
import { nothingWritten, type Turn } from "./conversation.ts";
import { noReply } from "./reply.ts";

const turn = (id: number, state: Turn["state"] = "done"): Turn => ({
  id,
  model: "m",
  input: { kind: "message", ...nothingWritten, text: `question ${id}` },
  reply: { ...noReply, text: `answer ${id}` },
  state,
  served: null,
  problem: null,
});
const chats = (...turns: Turn[]) => new Map([["", turns]]);

test("a conversation and the draft message can be restored", () => {
  const draft = { ...nothingWritten, text: "half a thought" };
  expect(beforeOf(chats(turn(1)), draft)).toEqual({ chats: chats(turn(1)), draft });
  expect(beforeOf(chats(), draft)?.draft).toEqual(draft);
  expect(beforeOf(chats(), nothingWritten)).toBeNull();
});

test("an answer that was stopped stays marked as stopped", () => {
  expect(
    beforeOf(chats(turn(1), turn(2, "running")), nothingWritten)
      ?.chats.get("")
      ?.map(({ state }) => state),
  ).toEqual(["done", "stopped"]);
});

test("undo stays available while the edited message is sent, and ends with the next message", () => {
  const before = beforeOf(chats(turn(1), turn(2)), nothingWritten);
  expect(stillBefore(before, chats(turn(1)))).toBe(before);
  expect(stillBefore(before, chats(turn(1), turn(2)))).toBeNull();
  expect(stillBefore(null, chats())).toBeNull();
});
