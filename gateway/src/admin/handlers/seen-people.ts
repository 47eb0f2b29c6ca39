import { meets, type Need } from "@sluice/contract/words";
import { type Actor, Failure, type Workspace } from "#core/index.ts";
import { noSuchTask, type VideoTasks } from "#tasks/index.ts";
import { requireActor } from "./handler.ts";

export interface Looker {
  readonly actor: Actor | null;
  /** The role in the workspace in question. */
  readonly held: Need;
}

/**
 * Whose calls and spend somebody may see by person: everybody's (null) if they manage people, else only their own. Data of no single
 * person, and totals, are open to everybody who may view the page.
 */
export function seenPerson({ actor, held }: Looker): string | null {
  return meets(held, "admin") ? null : requireActor(actor).userId;
}

/** The same as a filter field. */
export function seenOnly(looker: Looker): { readonly seenPerson?: string } {
  const person = seenPerson(looker);
  return person === null ? {} : { seenPerson: person };
}

/** Throws `forbidden` if somebody asks for another person's data. */
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

/** Throws task_not_found, before anything is done, if the actor may not see the calls of the person who made the video task. */
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
