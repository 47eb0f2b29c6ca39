import type { Person } from "@sluice/contract";

/** A person with their email address, because names are not unique. Removed people have only the address. */
export function personText({ name, email, id }: Person): string {
  if (email === "") return id;
  return name === "" || name === email ? email : `${name} (${email})`;
}
