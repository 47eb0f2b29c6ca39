import { everyWorkspace } from "@sluice/contract";

/**
 * The workspace that a user chose last in this browser, and the last one that they visited. Both survive signing out. Texts are slugs;
 * the choice is `-` for all workspaces. Empty: none yet.
 */
export interface RememberedWorkspace {
  readonly chosen: string;
  readonly visited: string;
}

const prefix = "sluice.workspace.";

export function rememberedWorkspace(userId: string): RememberedWorkspace {
  return { chosen: read(`${prefix}${userId}`), visited: read(`${prefix}${userId}.visited`) };
}

/** null: all workspaces. */
export function rememberChoice(userId: string, slug: string | null): void {
  write(`${prefix}${userId}`, slug ?? everyWorkspace);
}

export function rememberVisit(userId: string, slug: string): void {
  write(`${prefix}${userId}.visited`, slug);
}

function read(name: string): string {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

function write(name: string, slug: string): void {
  try {
    localStorage.setItem(name, slug);
  } catch {
    // Without browser storage nothing is remembered.
  }
}
