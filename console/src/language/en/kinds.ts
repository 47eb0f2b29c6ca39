export const kinds = {} as const;
