import { expect, test } from "bun:test";
import { QueryClient } from "@tanstack/react-query";
import { forgetAll } from "../../session/use-sign-out.ts";
import { tabStateFor } from "./tab-state.ts";

test("all subscribers of a name share one value, see changes at once, and lose it at sign-out", async () => {
  const queries = new QueryClient();
  const key = ["kept", "usr_1", "draft"];
  const mine = tabStateFor(queries, key, "");
  const seen: string[] = [];
  const leave = mine.watch(() => seen.push(mine.now()));
  tabStateFor(queries, key, "other").set("a");
  mine.set((before) => `${before}b`);
  leave();
  mine.set("unseen");
  expect(seen).toEqual(["a", "ab"]);
  expect(tabStateFor(queries, ["kept", "usr_2", "draft"], "").now()).toBe("");
  await forgetAll(queries);
  expect(tabStateFor(queries, key, "").now()).toBe("");
});
