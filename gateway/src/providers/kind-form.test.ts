import { describe, expect, test } from "bun:test";
import { type Provider, Secret } from "#core/index.ts";
import { draftOf, kindOf, options, providerOf } from "../../test/provider-fixture.ts";
import { callerHeaders } from "./caller-headers.ts";
import { kindForm, settingsProblem } from "./kind-form.ts";
import { priceTermsOf, providerKinds } from "./kinds.ts";
import { batchesOf, batchWebhookKey, lanesOf, laneTraits, laneUrl, rootOf } from "./lanes.ts";
import { networkOf } from "./network-settings.ts";
import { objectPricesOf } from "./object-prices.ts";
import { passThroughOf } from "./pass-through/pass-through-setting.ts";
import { accountRedactor, settingIsShown, shownSettings } from "./setting-secrets.ts";
import { allowsObject, mayFetch, passesMember } from "./settings.ts";
import type { CreateInput } from "./video-adapter.ts";

/** Settings that record which of them were read. */
function watched(settings: Readonly<Record<string, unknown>>): {
  seen: Set<string>;
  settings: Record<string, unknown>;
} {
  const seen = new Set<string>();
  const proxy = new Proxy(
    { ...settings },
    {
      get(target, name) {
        if (typeof name === "string") seen.add(name);
        return Reflect.get(target, name);
      },
    },
  );
  return { seen, settings: proxy };
}

const everything = {
  region: "eu-west-1",
  project: "proj",
  location: "us-central1",
  resource: "res",
  access_key_id: "AKID",
  secret_access_key: "canary-secret",
  session_token: "canary-token",
  access_key: "AK",
};

const turn: CreateInput["turn"] = {
  prompt: "a cat",
  ratio: null,
  durationSeconds: null,
  resolution: null,
  audio: null,
  watermark: null,
  seed: null,
  material: [],
  content: null,
  vendorFields: {},
  wantsLastFrame: false,
} as unknown as CreateInput["turn"];

/** Everything of a kind that may look at a provider's settings. What it refuses is not the point here. */
async function useAll(provider: Provider, kind: (typeof providerKinds)[number]): Promise<void> {
  const attempts: (() => unknown)[] = [
    () => kind.checkSettings?.(provider),
    () => kind.baseUrlOf?.(provider),
    () => rootOf(provider),
    () => kind.tokens?.(provider),
    () => lanesOf(kind, provider),
    () => networkOf(provider),
    () => passesMember(provider, "speed"),
    () => passThroughOf(provider),
    () => objectPricesOf(provider),
    () => priceTermsOf(provider),
    () => batchesOf(kind, provider),
    () => batchWebhookKey(kind, provider),
    () => kind.video?.create({ provider, upstreamModel: "m", turn, taskId: "vt_1", callbackUrl: null }),
    () => kind.video?.poll(provider, "m", "1"),
    () => kind.library?.lacks(provider),
    () => kind.library?.createGroup(provider, { name: "g", description: "", projectName: "" } as never, options.now),
  ];
  for (const lane of kind.lanes) {
    attempts.push(async () => {
      const draft = draftOf(provider, lane, "claude-x", { model: "claude-x", anthropic_beta: ["a"] });
      draft.headers["anthropic-beta"] = "a";
      laneUrl(provider, lane, "m", true);
      laneTraits(kind, provider, lane, "m");
      lane.adjust?.(draft, () => {});
      mayFetch(provider);
      allowsObject(provider, "file-1");
      callerHeaders(provider);
      await kind.authorize(draft, options);
    });
  }
  for (const attempt of attempts) {
    try {
      await attempt();
    } catch {
      // A refused setting was read before.
    }
  }
}

describe.each(providerKinds.map((kind) => [kind.id, kind] as const))("the form of %s", (id, kind) => {
  const form = kindForm(kind);

  test("has exactly the settings that the provider type reads", async () => {
    const read = new Set<string>();
    for (const secret of [null, providerOf(id).secret]) {
      const methods = kind.fields?.find(({ name }) => name === "auth")?.options ?? [];
      for (const settings of [everything, {}, ...methods.map((auth) => ({ ...everything, auth }))]) {
        const { seen, settings: proxy } = watched(settings);
        const provider = { ...providerOf(id), secret, settings: proxy };
        seen.clear();
        await useAll(provider, kind);
        for (const name of seen) read.add(name);
      }
    }
    const asked = form.fields.map((field) => field.name);
    // `endpoints` only matters for provider types with several lanes.
    if (kind.lanes.length < 2) read.delete("endpoints");
    expect([...read].sort()).toEqual([...asked].sort());
  });

  test("has unique field names, marks secrets, and requires only necessary settings", () => {
    const names = form.fields.map((field) => field.name);
    expect(new Set(names).size).toBe(names.length);
    for (const field of form.fields) {
      expect(field.label).not.toBe("");
      if (/secret|token|password/.test(field.name)) expect([field.name, field.type]).toEqual([field.name, "secret"]);
      if (field.type === "select") expect(field.options?.length).toBeGreaterThan(0);
    }
    const required = form.fields.filter((field) => field.required).map((field) => field.name);
    const rest = Object.fromEntries(required.map((name) => [name, everything[name as keyof typeof everything]]));
    const bare = { ...providerOf(id), settings: rest };
    expect(settingsProblem(kind, bare)).toBeNull();
    for (const name of required) {
      const { [name]: _left, ...others } = rest;
      expect(settingsProblem(kind, { ...bare, settings: others })).toContain(name);
    }
  });

  test("explains where to create a key, and the base URL if it is required", () => {
    if (form.apiKey !== "none") expect(form.apiKeyHelp?.length ?? 0).toBeGreaterThan(10);
    if (kind.baseUrl === null) expect(form.baseUrlHelp?.length ?? 0).toBeGreaterThan(10);
  });
});

describe("secrets in settings", () => {
  test("shows only settings with a form field that is not secret", () => {
    expect(settingIsShown("ark", "project_name")).toBe(true);
    for (const name of ["secret_access_key", "session_token", "own_password", "toString"]) {
      expect([name, settingIsShown("ark", name)]).toEqual([name, false]);
    }
    expect(settingIsShown("no-such-kind", "region")).toBe(false);
    expect(shownSettings("kling", { access_key: "AK", other: { deep: "canary" } })).toEqual({
      access_key: "AK",
      other: "[redacted]",
    });
  });

  test("redacts an account's secrets in an upstream's text, longest first", () => {
    const provider = providerOf("ark", { settings: { secret_access_key: "canary", session_token: "canary-and-more" } });
    const text = `no: ${provider.secret?.reveal()} canary-and-more canary`;
    expect(accountRedactor(provider).text(text)).toBe("no: [redacted] [redacted] [redacted]");
  });
});

test("a secret reference must have the form of its store, and its value is not checked before it is read", () => {
  const kind = kindOf("openai");
  const problemOf = (key: string, settings: Record<string, unknown> = {}) =>
    settingsProblem(kind, providerOf("openai", { secret: new Secret(key), settings }));
  expect(problemOf("vault://kv/openai")).toBe("api_key must have the form vault://mount/path#field");
  expect(problemOf("sk", { proxy: "env://A B" })).toBe("settings.proxy must have the form env://NAME");
  expect(problemOf("vault://kv/openai#key", { proxy: "env://AI_PROXY" })).toBeNull();
});
