import { expect, test } from "bun:test";
import type { ProviderKindForm } from "@sluice/contract";
import { fieldsFor, usesApiKey } from "./auth-choice.ts";

const field = (name: string, auths: readonly string[] | null, options: string[] | null = null) => ({
  ...{ name, label: name, required: false, help: null, placeholder: null, options },
  type: options === null ? ("text" as const) : ("select" as const),
  auths: auths === null ? null : [...auths],
});
const form: ProviderKindForm = {
  ...{ kind: "cloud", title: "Cloud", base_url: null, base_url_help: null, api_key: "required", api_key_help: null },
  ...{ dialects: [], types: ["chat"], lists_models: false },
  fields: [
    field("auth", null, ["api_key", "web_identity"]),
    field("region", null),
    field("access_key_id", ["api_key"]),
    field("identity_file", ["web_identity"]),
  ],
};
const names = (settings: object, stored: object = {}) =>
  fieldsFor(form, settings as Record<string, unknown>, stored as Record<string, unknown>).map(({ name }) => name);

test("shows the fields of the chosen authentication, and stored ones", () => {
  expect(names({})).toEqual(["auth", "region", "access_key_id"]);
  expect(names({ auth: "web_identity" })).toEqual(["auth", "region", "identity_file"]);
  expect(names({ auth: "web_identity" }, { access_key_id: "A" })).toContain("access_key_id");
});

test("asks for the API key only if the authentication uses it", () => {
  expect([usesApiKey(form, {}), usesApiKey(form, { auth: "api_key" })]).toEqual([true, true]);
  expect(usesApiKey(form, { auth: "web_identity" })).toBe(false);
  expect(usesApiKey({ ...form, api_key: "none" }, {})).toBe(false);
});
