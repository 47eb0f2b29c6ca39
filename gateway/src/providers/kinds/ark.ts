import {
  byteplusPlace,
  type LibraryPlace,
  libraryProblem,
  volcengineLibrary,
  volcenginePlace,
} from "../assets/volcengine-library.ts";
import { defineKind } from "../define-kind.ts";
import type { Lane, ProviderKind } from "../kind.ts";
import { arkModels } from "../reasoning/vendor-models.ts";
import { settingField, signingFields } from "../setting-field.ts";
import { chatWith, embeddings, images, responses } from "../standard-lanes.ts";
import { arkVideo } from "../video/ark.ts";

const lanes: readonly Lane[] = [
  chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content" }),
  responses,
  // Edits use the path of image generation.
  { ...images, traits: { editsWhereItMakes: true } },
  embeddings,
];

/** Model names are per account (an endpoint id or a dated name), so there are no starter models. */
export const ark = arkKind(volcenginePlace, {
  id: "ark",
  title: "Volcengine Ark",
  baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
  variable: "ARK",
  apiKeyHelp: "Create one at console.volcengine.com/ark, under API keys.",
});

/** The same platform outside China, with its own accounts. */
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
  return defineKind({
    ...named,
    fields: [
      ...signingFields("For the asset library, which does not accept the API key."),
      settingField("project_name", "Project", { help: "The project for asset groups. Default: default." }),
      settingField("region", "Asset library region", { placeholder: place.region, setsDestination: true }),
      settingField("openapi_url", "Asset library URL", { placeholder: place.url, setsDestination: true }),
      settingField("mark_tasks", "Tag video tasks", {
        type: "boolean",
        help: "Sends our task id as safety_identifier, to find a task again if its answer was lost.",
      }),
    ],
    reasoning: arkModels,
    lanes,
    checkSettings: libraryProblem,
    video: arkVideo({}),
    library: volcengineLibrary(place),
  });
}
