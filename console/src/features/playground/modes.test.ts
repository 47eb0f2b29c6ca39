import { expect, test } from "bun:test";
import { chosen, modelsIn } from "./modes.ts";

const models = modelsIn({
  data: [
    { id: "talker", type: "chat", endpoints: ["/v1/chat/completions"] },
    { id: "only-messages", type: "chat", endpoints: ["/v1/messages"] },
    { id: "films", type: "video", endpoints: ["/v1/video/tasks"] },
    { id: "painter", type: "image", endpoints: ["/v1/images/generations"] },
    { id: "broken", type: "video", endpoints: [] },
  ],
});

test("only models that can be called in their mode are offered", () => {
  expect(models.map((model) => model.id)).toEqual(["talker", "films", "painter"]);
  expect(modelsIn(null)).toEqual([]);
});

test("the URL may contain the model, the mode or neither", () => {
  expect(chosen(models, "", "")).toEqual({ mode: "chat", model: "talker" });
  expect(chosen(models, "", "films")).toEqual({ mode: "video", model: "films" });
  expect(chosen(models, "video", "")).toEqual({ mode: "video", model: "films" });
  expect(chosen(models, "video", "painter")).toEqual({ mode: "video", model: "films" });
  expect(chosen(models, "", "gone")).toEqual({ mode: "chat", model: "talker" });
  expect(chosen(models, "embedding", "")).toEqual({ mode: "embedding", model: null });
  expect(chosen([], "", "")).toEqual({ mode: "chat", model: null });
});
