import { expect, test } from "bun:test";
import { isHere, nextStep, type StepFacts, stepsOf } from "./steps.ts";

const fresh: StepFacts = {
  done: { provider: false, model: false, key: true, call: false },
  demo: true,
  withDemo: false,
  administrator: true,
  member: true,
  workspace: "default",
  provider: null,
  model: null,
};
const next = (facts: StepFacts) => nextStep(stepsOf(facts));

test("a new installation leads to a provider, its models and then the first answer, each page opened at the right place", () => {
  expect(next(fresh)?.action?.link).toEqual({ to: "/providers", search: { add: "choose" } });
  const added = { ...fresh, demo: false, done: { ...fresh.done, provider: true }, provider: "openai" };
  expect(next(added)?.action?.link).toMatchObject({ params: { provider: "openai" }, search: { tab: "import" } });
  const served = { ...added, done: { ...added.done, model: true }, model: "gpt-5" };
  expect(next(served)?.action?.link).toMatchObject({
    to: "/playground",
    search: { workspace: "default", model: "gpt-5", type: "chat" },
  });
  expect(next({ ...served, done: { ...served.done, key: false } })?.id).toBe("key");
  expect(next({ ...served, done: { ...served.done, call: true } })).toBeNull();
});

test("continuing with the demo skips the provider step until there is a real provider", () => {
  expect(next({ ...fresh, withDemo: true })?.id).toBe("call");
  const added = { ...fresh, withDemo: true, demo: false, done: { ...fresh.done, provider: true } };
  expect(next(added)?.id).toBe("model");
});

test("steps that the user may not perform are not linked", () => {
  expect(next({ ...fresh, administrator: false })?.id).toBe("call");
  expect(next({ ...fresh, administrator: false, member: false })).toBeNull();
});

test("a step is not offered again while its page is open at the right part", () => {
  const [provider, model] = stepsOf({ ...fresh, done: { ...fresh.done, provider: true }, provider: "openai" });
  if (provider === undefined || model === undefined) throw new Error("no steps");
  expect(isHere(provider, "/providers", {})).toBe(false);
  expect(isHere(provider, "/providers", { add: "anthropic" })).toBe(true);
  expect(isHere(model, "/providers/openai", { tab: "test" })).toBe(false);
  expect(isHere(model, "/providers/openai", { tab: "import" })).toBe(true);
  expect(isHere(model, "/providers/other", { tab: "import" })).toBe(false);
});
