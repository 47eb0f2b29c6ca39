import { classifyByStatus } from "../classify-by-status.ts";
import type { ProviderKind } from "../kind.ts";
import { viduVideo } from "../video/vidu.ts";

/** In China: https://api.vidu.cn. */
export const vidu: ProviderKind = {
  id: "vidu",
  title: "Vidu",
  baseUrl: "https://api.vidu.com",
  envKey: "VIDU_API_KEY",
  envBaseUrl: "VIDU_BASE_URL",
  form: {
    baseUrlHelp: "For an account in China: https://api.vidu.cn.",
    apiKeyHelp: "Create one at platform.vidu.com, under API keys.",
  },
  lanes: [],
  listsModels: false,
  video: viduVideo,
  authorize: ({ provider, headers }) => {
    if (provider.secret !== null) headers["authorization"] = `Token ${provider.secret.reveal()}`;
  },
  classify: (answer) => classifyByStatus(answer),
  starterModels: [],
};
