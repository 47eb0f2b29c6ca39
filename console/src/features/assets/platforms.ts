/** Where material can live. The names are the API's. */
export const platforms = [
  {
    id: "local",
    name: "Local",
    about: "The gateway fetches and keeps the bytes. For any provider that takes pictures.",
  },
  {
    id: "volcengine",
    name: "Volcengine",
    about: "The asset library of an Ark account. Seedance takes real faces only from there.",
  },
  { id: "byteplus", name: "BytePlus", about: "The asset library of a BytePlus account, outside China." },
] as const;

export function platformName(id: string): string {
  return platforms.find((platform) => platform.id === id)?.name ?? id;
}
