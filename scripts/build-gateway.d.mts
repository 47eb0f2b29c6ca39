export function buildGateway(): string | null;
