import type { BodyOf } from "@sluice/contract";
import { defaultTimeouts, Failure, type Provider, redactedText } from "#core/index.ts";
import type { ProviderRecord } from "#directory/index.ts";
import type { ProviderDraft } from "#ports/index.ts";
import {
  defaultBaseUrl,
  kindForm,
  providerKind,
  type SettingField,
  settingIsShown,
  settingsProblem,
  settingTypeProblem,
} from "#providers/index.ts";

type Settings = Readonly<Record<string, unknown>>;

/** A new provider from what was sent. */
export function newProvider(body: BodyOf<"providers.create">): ProviderDraft {
  refuseRedactedKey(body.api_key);
  const { base_url, disconnect, settings, ...rest } = body;
  return {
    ...rest,
    ...(base_url == null ? {} : { base_url }),
    ...(disconnect == null ? {} : { disconnect }),
    ...(settings === undefined ? {} : { settings: mergedSettings(body.kind, settings, {}) }),
  };
}

/**
 * A provider with what was sent put over what is stored; what was not sent stays. A secret setting that reads `[redacted]`
 * stays too, unless the provider is to send it somewhere else than before: then it is gone, as the API key is.
 */
export function changedProvider(before: ProviderRecord, body: BodyOf<"providers.update">): ProviderDraft {
  refuseRedactedKey(body.api_key);
  const merged =
    body.settings === undefined ? before.settings : mergedSettings(before.kind, body.settings, before.settings);
  const address = addressOf(before, body, merged);
  const moved =
    (address ?? defaultOf(before, merged)) !== before.baseUrl ||
    fieldsOf(before.kind).some((field) => field.leads && merged[field.name] !== before.settings[field.name]);
  const settings = moved ? withoutKept(before, merged) : merged;
  const timeouts = body.timeouts ?? before.timeouts;
  const disconnect = body.disconnect === undefined ? before.disconnect : body.disconnect;
  return {
    id: before.id,
    kind: before.kind,
    ...(address === undefined ? {} : { base_url: address }),
    ...(body.api_key === undefined ? {} : { api_key: body.api_key }),
    allow_private_network: body.allow_private_network ?? before.allowPrivateNetwork,
    timeouts,
    ...(disconnect === null ? {} : { disconnect }),
    enabled: body.enabled ?? before.enabled,
    settings: { ...settings },
  };
}

/** undefined: as the kind has it. An address that was the kind's own follows the settings that decide it. */
function addressOf(before: ProviderRecord, body: BodyOf<"providers.update">, merged: Settings): string | undefined {
  if (body.base_url !== undefined) return body.base_url ?? undefined;
  const wasDefault = before.baseUrl === defaultOf(before, before.settings);
  return wasDefault && defaultOf(before, merged) !== null ? undefined : before.baseUrl;
}

/** What was sent, checked against the form of its kind, with what is kept in its place. */
function mergedSettings(kindId: string, sent: Settings, stored: Settings): Settings {
  const fields = fieldsOf(kindId);
  const merged: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sent)) {
    const param = `settings.${name}`;
    if (value === redactedText) {
      if (!(name in stored)) {
        throw new Failure("invalid_request", `There is no stored \`${param}\` to keep: give its value.`, { param });
      }
      merged[name] = stored[name];
      continue;
    }
    if (value === null || value === "") continue;
    const field = fields.find((one) => one.name === name);
    if (field === undefined) throw unknownSetting(kindId, name, fields);
    const problem = settingTypeProblem(field, value);
    if (problem !== null) throw new Failure("invalid_request", `\`${param}\` ${problem}.`, { param });
    merged[name] = value;
  }
  return merged;
}

/** Throws when the kind cannot do without what is not kept, and says why it was not. */
function withoutKept(before: ProviderRecord, merged: Settings): Settings {
  const dropped = Object.keys(merged).filter(
    (name) => !settingIsShown(before.kind, name) && merged[name] === before.settings[name],
  );
  if (dropped.length === 0) return merged;
  const rest = Object.fromEntries(Object.entries(merged).filter(([name]) => !dropped.includes(name)));
  const kind = providerKind(before.kind);
  const problem = kind === null ? null : settingsProblem(kind, bareProvider(before, rest));
  if (problem === null) return rest;
  const names = dropped.map((name) => `settings.${name}`).join(", ");
  const message = `${problem}. The provider's address changes, so ${names} must be given again.`;
  throw new Failure("invalid_request", message, { param: `settings.${dropped[0]}` });
}

function unknownSetting(kindId: string, name: string, fields: readonly SettingField[]): Failure {
  const known = fields.length === 0 ? "It has none." : `It has: ${fields.map((field) => field.name).join(", ")}.`;
  const kind = providerKind(kindId);
  if (kind === null) {
    return new Failure("invalid_request", `There is no kind of provider called "${kindId}".`, { param: "kind" });
  }
  return new Failure("invalid_request", `The kind ${kindId} has no setting ${name}. ${known}`, {
    param: `settings.${name}`,
  });
}

function refuseRedactedKey(apiKey: string | null | undefined): void {
  if (apiKey !== redactedText) return;
  throw new Failure("invalid_request", "`[redacted]` is no key. Leave `api_key` out to keep the stored one.", {
    param: "api_key",
  });
}

function fieldsOf(kindId: string): readonly SettingField[] {
  const kind = providerKind(kindId);
  return kind === null ? [] : kindForm(kind).fields;
}

function defaultOf(record: ProviderRecord, settings: Settings): string | null {
  const kind = providerKind(record.kind);
  return kind === null ? null : defaultBaseUrl(kind, bareProvider(record, settings));
}

function bareProvider({ id, kind }: ProviderRecord, settings: Settings): Provider {
  return {
    id,
    kind,
    baseUrl: "",
    secret: null,
    allowPrivateNetwork: false,
    timeouts: defaultTimeouts,
    disconnect: "cancel",
    settings,
    enabled: true,
  };
}
