/** The button in forms; its dialog has an area of its own, so that forms do not load it. */
export const rehearse = { button: "Rehearse", list: "Rehearsals" } as const;
