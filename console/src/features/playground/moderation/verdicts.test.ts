import { expect, test } from "bun:test";
import { categoryWords, moderationBody, verdictsIn } from "./verdicts.ts";

test("flagged categories come first, then the highest scores", () => {
  const [verdict] = verdictsIn({
    results: [
      {
        flagged: true,
        categories: { hate: false, violence: true, "self-harm/intent": false },
        category_scores: { hate: 0.2, violence: 0.6, "self-harm/intent": 0.7 },
      },
    ],
  });
  expect(verdict?.flagged).toBe(true);
  expect(verdict?.categories.map(({ name }) => name)).toEqual(["violence", "self-harm/intent", "hate"]);
});

test("without an overall verdict the categories decide", () => {
  expect(verdictsIn({ results: [{ categories: { pii: true } }] })[0]).toEqual({
    flagged: true,
    categories: [{ name: "pii", flagged: true, score: null }],
  });
  expect(verdictsIn("no")).toEqual([]);
  expect(categoryWords("self-harm/intent")).toBe("Self-harm: intent");
});

test("an image is sent with the text, or alone", () => {
  const picture = "data:image/png;base64,AA";
  expect(moderationBody("m", { text: " hi ", picture: null })).toEqual({ model: "m", input: "hi" });
  expect(moderationBody("m", { text: "", picture }).input).toEqual([
    { type: "image_url", image_url: { url: picture } },
  ]);
  expect(moderationBody("m", { text: "hi", picture }).input).toHaveLength(2);
});
