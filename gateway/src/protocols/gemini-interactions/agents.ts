/** Whether an agent has this name. Requests name agents by `agent` instead of `model`. Source: @google/genai, AgentOption. */
export function isAgent(upstreamModel: string): boolean {
  return agentPattern.test(upstreamModel);
}

const agentPattern = /^(?:agents\/)?(?:deep-research|antigravity|code-mender)\b/;
