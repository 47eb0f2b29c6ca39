import { useState } from "react";

/** Something that a reader has put away, for good in this browser. */
export function useHidden(name: string): readonly [boolean, () => void] {
  const place = `sluice.hidden.${name}`;
  const [hidden, setHidden] = useState(() => read(place));
  return [
    hidden,
    () => {
      setHidden(true);
      try {
        localStorage.setItem(place, "yes");
      } catch {
        // A browser that keeps nothing shows it again next time.
      }
    },
  ];
}

function read(place: string): boolean {
  try {
    return localStorage.getItem(place) === "yes";
  } catch {
    return false;
  }
}
