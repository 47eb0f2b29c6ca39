import { meets, type Need } from "@sluice/contract/words";
import { type Actor, Failure, type Workspace } from "#core/index.ts";
import { noSuchTask, type VideoTasks } from "#tasks/index.ts";
import { requireActor } from "./handler.ts";

export interface Looker {
  readonly actor: Actor | null;
  /** In the workspace that is looked at. */
  readonly held: Need;
}

/**
 * Whose calls and spend somebody may tell apart from the others': everybody's where they manage people, else only their own. null:
 * everybody's. What is no one person's, and sums over all, are for everybody who may look.
 */
export function seenPerson({ actor, held }: Looker): string | null {
  return meets(held, "admin") ? null : requireActor(actor).userId;
}

/** The same as a member of a filter. */
export function seenOnly(looker: Looker): { readonly seenPerson?: string } {
  const person = seenPerson(looker);
  return person === null ? {} : { seenPerson: person };
}

/** Throws `forbidden` where somebody asks for another's. */
export function checkPerson(looker: Looker, person: string | undefined): void {
  const own = seenPerson(looker);
  if (own === null || person === undefined || person === own) return;
  throw new Failure(
    "forbidden",
    "What one person calls and spends is for themselves and for admins of the workspace.",
    {
      param: "person",
    },
  );
}

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
