/** The button in forms; its dialog is a separate area, so that forms do not load it. */
export const rehearse = { button: "Rehearse", list: "Rehearsals" } as const;
