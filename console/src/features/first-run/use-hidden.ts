import { useState } from "react";

/** Whether the user has permanently hidden something in this browser. */
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
        // Without browser storage it is shown again next time.
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
