import type { ProviderKind } from "../kind.ts";
import { settingField } from "../setting-field.ts";
import { nameProblem } from "../settings.ts";
import { authorizeKling, classifyKling, klingVideo } from "../video/kling.ts";

/**
 * `settings.access_key` with the secret key as `api_key`; or a plain API key alone. In China:
 * https://api-beijing.klingai.com.
 */
export const kling: ProviderKind = {
  id: "kling",
  title: "Kling",
  baseUrl: "https://api-singapore.klingai.com",
  // A pair of keys makes an account, and one variable could not tell which of them it is.
  envKey: null,
  envBaseUrl: null,
  baseUrlHelp: "For an account in China: https://api-beijing.klingai.com.",
  apiKeyHelp:
    "The secret key that belongs to the access key; or a plain API key alone. Created at app.klingai.com, under API keys.",
  fields: [
    settingField("access_key", "Access key", {
      help: "Of an account that has a pair of keys. Leave it empty for a plain API key.",
    }),
  ],
  lanes: [],
  checkSettings: (provider) => nameProblem(provider, "access_key"),
  listsModels: false,
  video: klingVideo,
  authorize: authorizeKling,
  classify: classifyKling,
  starterModels: [],
};
