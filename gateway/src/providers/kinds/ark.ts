import {
  byteplusPlace,
  type LibraryPlace,
  libraryProblem,
  volcengineLibrary,
  volcenginePlace,
} from "../assets/volcengine-library.ts";
import type { Lane, ProviderKind } from "../kind.ts";
import { openaiLike } from "../openai-like.ts";
import { arkModels } from "../reasoning/vendor-models.ts";
import { type SettingField, settingField, signingFields } from "../setting-field.ts";
import { chatWith, embeddings, images, responses } from "../standard-lanes.ts";
import { arkVideo } from "../video/ark.ts";

const lanes: readonly Lane[] = [
  chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content" }),
  responses,
  // Pictures to change are sent to where pictures are made.
  { ...images, traits: { editsWhereItMakes: true } },
  embeddings,
];

/**
 * Ark's models are named per account (an endpoint id or a dated name), so none is offered at first start. The asset
 * library wants `settings.access_key_id` with `secret_access_key` (and `session_token`).
 */
export const ark = arkKind(volcenginePlace, {
  id: "ark",
  title: "Volcengine Ark",
  baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
  variable: "ARK",
  apiKeyHelp: "Create one at console.volcengine.com/ark, under API keys.",
});

/** The same platform outside China, with accounts and keys of its own. */
export const byteplus = arkKind(byteplusPlace, {
  id: "byteplus",
  title: "BytePlus ModelArk",
  baseUrl: "https://ark.ap-southeast.bytepluses.com/api/v3",
  variable: "BYTEPLUS",
  apiKeyHelp: "Create one at console.byteplus.com/ark, under API keys.",
});

function arkKind(
  place: LibraryPlace,
  named: Record<"id" | "title" | "baseUrl" | "variable" | "apiKeyHelp", string>,
): ProviderKind {
  return openaiLike({
    ...named,
    fields: arkFields(place),
    reasoning: arkModels,
    lanes,
    checkSettings: libraryProblem,
    video: arkVideo({ platform: place.platform }),
    library: volcengineLibrary(place),
  });
}

function arkFields({ url, region }: LibraryPlace): readonly SettingField[] {
  return [
    ...signingFields("For the asset library, which does not take the API key."),
    settingField("project_name", "Project", { help: "Where the library's groups are made. Default: default." }),
    settingField("region", "Asset library region", { placeholder: region, leads: true }),
    settingField("openapi_url", "Asset library URL", { placeholder: url, leads: true }),
    settingField("mark_tasks", "Tag video tasks", {
      type: "boolean",
      help: "Sends our task's id along as safety_identifier, so that a task whose answer was lost is found again.",
    }),
  ];
}
