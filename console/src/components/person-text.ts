import type { Person } from "@sluice/contract";

/** Somebody with their address, by which two of one name are told apart. Of one who was removed the name is gone. */
export function personText({ name, email, id }: Person): string {
  if (email === "") return id;
  return name === "" || name === email ? email : `${name} (${email})`;
}
