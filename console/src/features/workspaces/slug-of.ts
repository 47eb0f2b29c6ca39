import { t } from "../../language/areas/workspaces.ts";

const lengthMax = 63;

/** Derives a slug from a name: `Acme Robotics & Söhne` becomes `acme-robotics-sohne`. */
export function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, lengthMax)
    .replace(/^-+|-+$/g, "");
}

/** Why a text is not a valid slug; null if it is. */
export function slugFault(slug: string): string | null {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug)) return null;
  return t("workspaces.fields.slugWrong");
}
