import { modelEndpoints } from "@sluice/contract/words";

const tasks = "/v1/video/tasks";
const videos = "/v1/videos";

/**
 * The paths of calls by their route's name in metrics: `http.route`. What does not stand here (probes, the console) makes no
 * span.
 */
export const routeTemplates: ReadonlyMap<string, string> = new Map([
  ...Object.entries(modelEndpoints).map(([name, { path }]): [string, string] => [name, path]),
  ["video-tasks", tasks],
  ["video-task", `${tasks}/{task_id}`],
  ["video-content", `${tasks}/{task_id}/content`],
  ["videos", videos],
  ["video", `${videos}/{video_id}`],
  ["video-remix", `${videos}/{video_id}/remix`],
  ["video-callback", "/v1/video/callbacks/{provider}/{token}"],
  ["asset-groups", "/v1/asset-groups"],
  ["asset-group", "/v1/asset-groups/{group_id}"],
  ["assets", "/v1/assets"],
  ["asset", "/v1/assets/{asset_id}"],
  ["blob", "/v1/blobs/{blob}"],
  ["kept-response", "/v1/responses/{response_id}"],
  ["models", "/v1/models"],
  ["model", "/v1/models/{model}"],
  ["usage", "/v1/usage"],
  ["pass-through", "/v1/providers/{provider}/{path}"],
]);

/** POSTs that begin a video task: the task goes on in a trace of its own. */
export const taskRoutes: ReadonlySet<string> = new Set(["video-tasks", "videos", "video-remix"]);
