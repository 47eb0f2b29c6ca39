import { defineKind } from "../define-kind.ts";
import { settingField } from "../setting-field.ts";
import { nameProblem } from "../settings.ts";
import { authorizeKling, classifyKling, klingVideo } from "../video/kling.ts";

/** An access key with its secret as `api_key`, or a plain API key. */
export const kling = defineKind({
  id: "kling",
  title: "Kling",
  baseUrl: "https://api-singapore.klingai.com",
  // One variable cannot hold a key pair.
  baseUrlHelp: "For an account in China: https://api-beijing.klingai.com.",
  apiKeyHelp: "The secret key of the access key, or a plain API key. Create one at app.klingai.com, under API keys.",
  fields: [
    settingField("access_key", "Access key", {
      help: "For an account with a key pair. Leave empty for a plain API key.",
    }),
  ],
  checkSettings: (provider) => nameProblem(provider, "access_key"),
  video: klingVideo,
  authorize: authorizeKling,
  classify: classifyKling,
});
