import { expect, test } from "bun:test";
import { type ConsoleProvider, consoleRoutes, type ProviderKindForm } from "@sluice/contract";
import {
  createBody,
  draftFaults,
  draftOf,
  isPrivateAddress,
  needsAddress,
  newDraft,
  redacted,
  updateBody,
  withSetting,
} from "./provider-draft.ts";

const field = (name: string, type: ProviderKindForm["fields"][number]["type"], required = false) => ({
  name,
  label: name,
  type,
  required,
  help: null,
  placeholder: null,
  options: null,
  auths: null,
});

const form: ProviderKindForm = {
  kind: "cloud",
  title: "Cloud",
  base_url: "https://api.cloud.test/v1",
  base_url_help: null,
  api_key: "required",
  api_key_help: null,
  dialects: ["openai-chat"],
  types: ["chat"],
  lists_models: true,
  fields: [field("region", "text", true), field("signing_key", "secret"), field("betas", "list"), field("map", "json")],
};

const stored: ConsoleProvider = {
  id: "cloud",
  kind: "cloud",
  base_url: "https://api.cloud.test/v1",
  has_api_key: true,
  allow_private_network: false,
  timeouts: { connect_ms: 1_000 },
  disconnect: null,
  enabled: true,
  settings: { region: "eu", signing_key: redacted, map: { a: 1 } },
  billing: null,
  deployments: 0,
  health: { state: "unknown", breaker: null, cooling_ms: 0, in_flight: 0, latency_ms: null, last_hour: null },
  managed_by: "console",
  created_at: 1,
};

test("a new provider is named after its type, with a number if that name is taken", () => {
  expect(newDraft("openai", []).id).toBe("openai");
  expect(newDraft("openai", ["openai", "openai-2"]).id).toBe("openai-3");
});

test("a new provider sends only the entered fields, in the gateway's format", () => {
  const draft = { ...newDraft("cloud", []), apiKey: { how: "set", text: " sk-1 " } as const };
  const full = { ...draft, settings: { region: "eu", betas: [], signing_key: "", map: '{"a":1}' } };
  const body = createBody(full, form);
  expect(body).toEqual({ id: "cloud", kind: "cloud", api_key: "sk-1", settings: { region: "eu", map: { a: 1 } } });
  expect(consoleRoutes["providers.create"].body?.safeParse(body).success).toBe(true);
});

test("missing and invalid fields are reported before the form is sent", () => {
  const draft = { ...newDraft("cloud", []), settings: { region: "eu" } };
  expect(draftFaults(draft, form, null)).toEqual({ api_key: "Enter the API key." });
  expect(draftFaults(draft, { ...form, api_key: "optional" }, null)).toEqual({});
  const keyed = { ...draft, apiKey: { how: "set", text: "k" } as const };
  expect(draftFaults({ ...keyed, settings: { map: "{" } }, form, null)).toEqual({
    "settings.region": "Enter region.",
    "settings.map": "This is not valid JSON.",
  });
  expect(draftFaults({ ...keyed, id: "" }, form, null)).toEqual({ id: "Enter a name." });
  expect(draftFaults({ ...keyed, id: "two words" }, form, null)["id"]).toContain("letters, digits");
  expect(draftFaults(keyed, form, null, ["cloud"])["id"]).toContain("already");
  expect(draftFaults({ ...keyed, baseUrl: "api.cloud.test" }, form, null)["base_url"]).toContain("complete URL");
});

test("a provider type without a default URL requires one, unless a setting determines it", () => {
  const bare = { ...form, base_url: null, fields: [field("output_cap", "text")] };
  expect([needsAddress(form), needsAddress(bare)]).toEqual([false, true]);
  expect(needsAddress({ ...bare, fields: [field("location", "text")] })).toBe(false);
  const keyed = { ...newDraft("cloud", []), apiKey: { how: "set", text: "k" } as const };
  expect(draftFaults(keyed, bare, null)).toEqual({ base_url: "Enter the base URL." });
});

test("an unchanged provider sends no changes", () => {
  expect(updateBody(draftOf(stored, form), stored, form)).toEqual({});
  expect(draftFaults(draftOf(stored, form), form, stored, ["cloud"])).toEqual({});
  const emptied = { ...draftOf(stored, form), settings: { region: "eu", signing_key: "" } };
  expect(draftFaults(emptied, form, stored)).toEqual({
    "settings.signing_key": "Enter signing_key, or keep the stored one.",
  });
});

test("sends only changed fields; an unchanged secret setting is sent as its placeholder and so kept", () => {
  const draft = draftOf(stored, form);
  const settings = withSetting(draft.settings, { name: "region" }, "us");
  expect(updateBody({ ...draft, settings }, stored, form)).toEqual({
    settings: { region: "us", signing_key: redacted, map: { a: 1 } },
  });
  expect(updateBody({ ...draft, apiKey: { how: "remove" } }, stored, form)).toEqual({ api_key: null });
  expect(updateBody({ ...draft, apiKey: { how: "set", text: "k" } }, stored, form)).toEqual({ api_key: "k" });
  expect(updateBody({ ...draft, timeouts: {}, disconnect: "drain" }, stored, form)).toEqual({
    timeouts: {},
    disconnect: "drain",
  });
});

test("clearing the URL restores the default of the provider type", () => {
  const elsewhere = { ...stored, base_url: "https://proxy.test/v1" };
  const draft = draftOf(elsewhere, form);
  expect(draft.baseUrl).toBe("https://proxy.test/v1");
  expect(updateBody({ ...draft, baseUrl: "" }, elsewhere, form)).toEqual({ base_url: null });
  expect(draftOf(stored, form).baseUrl).toBe("");
});

test("settings of an unknown provider type stay unchanged", () => {
  const draft = draftOf(stored, null);
  expect(updateBody({ ...draft, privateNetwork: true }, stored, null)).toEqual({
    allow_private_network: true,
  });
});

test("private addresses are distinguished from public ones", () => {
  const inside = [
    "http://localhost:11434/v1",
    "http://10.0.0.7:8000",
    "http://[::1]:1",
    "http://172.20.1.1",
    "http://gpu-box/v1",
  ];
  const outside = [
    "https://api.openai.com/v1",
    "https://172.32.0.1",
    "https://[2001:db8::1]",
    "",
    "not a url",
    "demo://simulator/v1",
  ];
  expect([inside.map(isPrivateAddress), outside.map(isPrivateAddress)]).toEqual([
    inside.map(() => true),
    outside.map(() => false),
  ]);
});
