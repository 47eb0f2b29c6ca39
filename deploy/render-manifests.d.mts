/** SHA-256 over the chart's files and the values, names included. */
export function digestOfChart(): string;
/** The whole text of sluice.yaml; throws with what Helm says. */
export function rendered(): string;
