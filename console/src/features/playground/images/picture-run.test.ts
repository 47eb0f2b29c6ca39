import { expect, test } from "bun:test";
import { Problem } from "../../../client/problem.ts";
import type { KeyCall } from "../../media/key-call.ts";
import { makePictures, pictureBody, picturesIn, plainNames, plainPicture } from "./picture-run.ts";

const draft = { ...plainPicture, prompt: " a coast ", count: 2, size: "1024x1024" };

function keyCall(answers: readonly (Problem | object)[]) {
  const left = [...answers];
  const sent: { path: string; body: unknown }[] = [];
  const call: KeyCall = {
    workspace: "w",
    key: "k",
    send: async (path, { body }) => {
      sent.push({ path, body: typeof body === "string" ? JSON.parse(body) : body });
      const answer = left.shift();
      if (answer instanceof Problem) throw answer;
      return Response.json(answer);
    },
  };
  return { call, sent };
}
const signal = new AbortController().signal;

test("base64 data is requested, unless the model refuses that parameter", async () => {
  expect(pictureBody("m", draft, { background: "transparent" })).toEqual({
    model: "m",
    prompt: "a coast",
    size: "1024x1024",
    n: 2,
    response_format: "b64_json",
    background: "transparent",
  });
  const { call, sent } = keyCall([{ data: [] }]);
  await makePictures(call, "m", draft, {}, { signal, base64: false, onBare: () => undefined });
  expect(sent[0]?.body).not.toHaveProperty("response_format");
});

test("a model that refuses the parameter is retried once without it", async () => {
  const refused = new Problem("invalid_request", "Unknown parameter", null, "response_format");
  const good = keyCall([refused, { data: [] }]);
  let bare = 0;
  await makePictures(good.call, "m", draft, {}, { signal, base64: true, onBare: () => bare++ });
  expect([bare, good.sent.length]).toEqual([1, 2]);
  const other = keyCall([new Problem("invalid_request", "No such size", null, "size")]);
  const failed = makePictures(other.call, "m", draft, {}, { signal, base64: true, onBare: () => bare++ });
  expect(await failed.catch((thrown: Problem) => thrown.param)).toBe("size");
  expect(other.sent.length).toBe(1);
});

test("uploaded pictures are sent as a form, one as image and several as image[]", async () => {
  const file = new File(["x"], "a.png", { type: "image/png" });
  const { call, sent } = keyCall([{ data: [] }, { data: [] }]);
  const options = { signal, base64: true, onBare: () => undefined };
  await makePictures(call, "m", { ...draft, sources: [file] }, {}, options);
  await makePictures(call, "m", { ...draft, sources: [file, file] }, {}, options);
  const [one, two] = sent.map(({ body }) => body as FormData);
  expect([sent[0]?.path, one?.get("n"), one?.getAll("image").length]).toEqual(["/v1/images/edits", "2", 1]);
  expect(two?.getAll("image[]").length).toBe(2);
  expect(plainNames([file, new File([], "my photo;type=x.jpg", { type: "image/jpeg" })])).toEqual([
    "a.png",
    "picture-2.jpeg",
  ]);
});

test("pictures are shown from their bytes; a URL is only linked, and only a web URL", () => {
  const pictures = picturesIn({
    data: [
      { b64_json: "/9j/AA", revised_prompt: "a wide coast" },
      { url: "https://example.com/a.png" },
      { url: "javascript:alert(1)" },
      null,
    ],
  });
  expect(pictures).toEqual([
    { url: "data:image/jpeg;base64,/9j/AA", address: null, revisedPrompt: "a wide coast" },
    { url: null, address: "https://example.com/a.png", revisedPrompt: null },
  ]);
});
