import { expect, test } from "bun:test";
import { draftOf, plainVideo, videoBody } from "./video-draft.ts";

test("empty fields are not sent", () => {
  expect(videoBody("m", { ...plainVideo, prompt: " a coast " }, {})).toEqual({ model: "m", prompt: "a coast" });
  expect(videoBody("m", { ...plainVideo, audio: false, seed: -1, duration: 0 }, { seed: 7 })).toEqual({
    model: "m",
    audio: false,
    duration: 0,
    seed: 7,
  });
});

test("a request that was sent fills the form, and the form sends the same request", () => {
  const request = {
    model: "seedance",
    prompt: "a coast",
    ratio: "16:9",
    duration: -1,
    resolution: "720p",
    audio: true,
    watermark: false,
    seed: -1,
    image: "asset://as_1",
    last_frame: "https://example.com/end.png",
    references: ["asset://as_2", { url: "https://example.com/wind.mp3", type: "audio" }],
    callback_url: "https://example.com/hook",
    metadata: { scene: 4 },
  };
  const draft = draftOf(request);
  expect(JSON.parse(draft.more)).toEqual({ callback_url: "https://example.com/hook", metadata: { scene: 4 } });
  expect(videoBody("seedance", draft, JSON.parse(draft.more))).toEqual(request);
});

test("parameters without a field are kept as additional parameters", () => {
  const request = {
    prompt: ["odd"],
    duration: "5",
    image: { url: "https://example.com/a.png", role: "first_frame" },
    references: [{ url: 1 }],
    seed: null,
  };
  const draft = draftOf(request);
  const { seed: _, ...shown } = request;
  expect(JSON.parse(draft.more)).toEqual(shown);
  expect(draft.image).toBe("");
});
