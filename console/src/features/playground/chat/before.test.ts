import { expect, test } from "bun:test";
import { beforeOf, stillBefore } from "./before.ts";
import type { Turn } from "./conversation.ts";
import { noReply } from "./reply.ts";

const turn = (id: number, state: Turn["state"] = "done"): Turn => ({
  id,
  model: "m",
  input: { kind: "message", text: `question ${id}`, pictures: [] },
  reply: { ...noReply, text: `answer ${id}` },
  state,
  served: null,
  problem: null,
});
const chats = (...turns: Turn[]) => new Map([["", turns]]);
const noDraft = { text: "", pictures: [] };

test("a conversation and the draft message can be restored", () => {
  const draft = { text: "half a thought", pictures: [] };
  expect(beforeOf(chats(turn(1)), draft)).toEqual({ chats: chats(turn(1)), draft });
  expect(beforeOf(chats(), draft)?.draft).toEqual(draft);
  expect(beforeOf(chats(), noDraft)).toBeNull();
});

test("an answer that was stopped stays marked as stopped", () => {
  expect(
    beforeOf(chats(turn(1), turn(2, "running")), noDraft)
      ?.chats.get("")
      ?.map(({ state }) => state),
  ).toEqual(["done", "stopped"]);
});

test("undo stays available while the edited message is sent, and ends with the next message", () => {
  const before = beforeOf(chats(turn(1), turn(2)), noDraft);
  expect(stillBefore(before, chats(turn(1)))).toBe(before);
  expect(stillBefore(before, chats(turn(1), turn(2)))).toBeNull();
  expect(stillBefore(null, chats())).toBeNull();
});
