import type { ConsoleProvider, Health, ProviderKindForm } from "@sluice/contract";
import type { ProviderRecord } from "#ports/index.ts";
import { kindForm, type ProviderKind, shownSettings, typesOf } from "#providers/index.ts";

/** A provider as the console shows it: no secret in it, only that there is one. */
export function providerView(record: ProviderRecord, deployments: number, health: Health): ConsoleProvider {
  return {
    id: record.id,
    kind: record.kind,
    base_url: record.baseUrl,
    has_api_key: record.hasApiKey,
    allow_private_network: record.allowPrivateNetwork,
    timeouts: record.timeouts,
    disconnect: record.disconnect,
    enabled: record.enabled,
    settings: shownSettings(record.kind, record.settings),
    deployments,
    health,
    managed_by: record.managedBy,
    created_at: record.createdAt,
  };
}

/** What a form for a provider of this kind asks. */
export function kindView(kind: ProviderKind): ProviderKindForm {
  const form = kindForm(kind);
  return {
    kind: kind.id,
    title: kind.title,
    base_url: kind.baseUrl,
    base_url_help: form.baseUrlHelp,
    api_key: form.apiKey,
    api_key_help: form.apiKeyHelp,
    dialects: [...new Set(kind.lanes.map((lane) => lane.dialect))],
    types: [...typesOf(kind)],
    lists_models: kind.listsModels !== false,
    fields: form.fields.map(({ name, label, type, required, help, placeholder, options }) => ({
      name,
      label,
      type,
      required,
      help,
      placeholder,
      options: options === null ? null : [...options],
    })),
  };
}
