import type { Workspace } from "#core/index.ts";
import { noSuchTask, type VideoTasks } from "#tasks/index.ts";
import { type Looker, seenPerson } from "./seen-people.ts";

/** Throws task_not_found for a video task of somebody whose calls are not for whoever asks, before anything is done with it. */
export async function checkTask(
  looker: Looker,
  videos: Pick<VideoTasks, "find">,
  { id: workspaceId }: Workspace,
  id: string,
): Promise<void> {
  const own = seenPerson(looker);
  if (own === null) return;
  const { personId = own } = await videos.find(workspaceId, id);
  if (personId !== own) throw noSuchTask(id);
}
