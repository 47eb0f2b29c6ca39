interface Id {
  readonly id: string;
}

/** The people of a key, as in `ConsoleKey`. */
export interface KeyPeople {
  readonly created_by: Id | null;
  readonly owner: Id | null;
  readonly person?: Id | undefined;
}

/** Whether a key is a user's own: they created or own it. The key of their agents is not, because only admins manage it. */
export function isKeyOf({ created_by: creator, owner }: KeyPeople, userId: string): boolean {
  return creator?.id === userId || owner?.id === userId;
}

/**
 * Whether a user may call with a key from the console, where no secret is needed. Calls with a personal key count as usage of its owner,
 * so only the owner may; a key without an owner is for its creator and for admins of its workspace.
 */
export function mayCallWith(key: KeyPeople, userId: string, { isAdmin }: { readonly isAdmin: boolean }): boolean {
  if (key.person !== undefined) return false;
  if (key.owner !== null) return key.owner.id === userId;
  return isAdmin || key.created_by?.id === userId;
}
