import type { ConfigSnapshot, Provider } from "#core/index.ts";
import { type CliCommand, table } from "../cli-command.ts";
import { environmentOf, withControl } from "../open.ts";
import { CommandFailed } from "../terminal.ts";

const modelsShownMax = 50;

export function addProviders(program: CliCommand): void {
  const { terminal } = program;
  const provider = program.command("provider").description("list and test providers");
  provider
    .command("list")
    .description("list providers, without their secrets")
    .onControl(async ({ controlStore }) => {
      const configSnapshot = await controlStore.configSnapshot();
      const providers = [...configSnapshot.providers.values()].map(({ id, kind, baseUrl, enabled }) => ({
        ...{ id, kind, base_url: baseUrl, enabled },
        models: [...configSnapshot.models.values()]
          .filter(({ deployments }) => deployments.some((deployment) => deployment.provider.id === id))
          .map(({ name }) => name),
      }));
      const rows = providers.map(({ id, kind, base_url, enabled, models }) => [
        ...[id, kind, base_url, enabled ? "enabled" : "disabled", String(models.length)],
      ]);
      return [{ providers }, table(["ID", "KIND", "ADDRESS", "STATE", "MODELS"], rows, "no providers")];
    });
  provider
    .command("test")
    .description("test a provider: list its models and send a short chat request")
    .argument("<id>", "the provider's id")
    .option("--model <name>", "upstream model name (default: one of its deployments)")
    .action(async (id: string, options: { readonly model?: string }, command: CliCommand) => {
      const environment = await environmentOf(terminal.variables);
      await withControl(terminal.variables, async ({ controlStore, clock }) => {
        const { ownProbe } = await import("../own-probe.ts");
        const { probe, withSecrets } = ownProbe(clock, environment);
        const configSnapshot = await withSecrets(await controlStore.configSnapshot());
        const { provider, kind } = await subjectOf(configSnapshot, id);
        const { signal } = new AbortController();
        const listing = await probe.listModels(provider, kind, signal);
        const models = listing?.models?.map((each) => each.id) ?? null;
        const model =
          options.model ?? deployedModel(configSnapshot, provider) ?? kind.starterModels[0]?.name ?? models?.[0];
        if (model === undefined) throw new CommandFailed(`no model found for provider ${id}; choose one with --model`);
        const chat = await probe.ask(provider, kind, { upstreamModel: model, type: "chat" }, signal);
        if (chat === null) throw new CommandFailed(`provider ${id} has no endpoint that can be tested`);
        const { status, problem, advice } = chat;
        const ms = Math.round(chat.ms);
        const data = {
          ...{ provider: id, kind: kind.id, model, ok: problem === null, status, latency_ms: ms, problem, advice },
          models,
        };
        const shown = models?.slice(0, modelsShownMax) ?? [];
        const rest = (models?.length ?? 0) - shown.length;
        await command.report(data, [
          `chat    ${model}: status ${status === 0 ? "none" : status}, ${ms} ms`,
          models === null
            ? `models  no list (${listing === null ? "not supported" : (listing.problem ?? "unexpected answer")})`
            : `models  ${models.length}: ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`,
        ]);
        if (problem !== null) {
          throw new CommandFailed(`provider ${id}: ${problem}${advice === null ? "" : ` ${advice}`}`);
        }
      });
    });
  program
    .command("model")
    .description("list models")
    .command("list")
    .description("list models with their providers, and whether they have a price")
    .onControl(async ({ controlStore }) => {
      const configSnapshot = await controlStore.configSnapshot();
      const models = [...configSnapshot.models.values()].map(({ name, type, deployments, fallbacks, price }) => ({
        ...{ name, type, fallbacks, has_price: price !== null },
        deployments: deployments.map(({ id, provider: { id: provider, enabled: on }, upstreamModel, enabled }) => ({
          ...{ id, provider, upstream_model: upstreamModel, enabled: enabled && on },
        })),
      }));
      const rows = models.map(({ name, type, has_price, deployments, fallbacks }) => [
        ...[name, type, has_price ? "yes" : "no"],
        deployments.map(({ provider, enabled }) => (enabled ? provider : `${provider} (disabled)`)).join(", "),
        fallbacks.join(", "),
      ]);
      return [{ models }, table(["NAME", "TYPE", "PRICE", "PROVIDERS", "FALLBACKS"], rows, "no models")];
    });
}

async function subjectOf(configSnapshot: ConfigSnapshot, id: string) {
  const provider = configSnapshot.providers.get(id);
  if (provider === undefined) {
    const ids = [...configSnapshot.providers.keys()].join(", ");
    throw new CommandFailed(
      `provider ${JSON.stringify(id)} not found; ${ids === "" ? "there are none" : `providers: ${ids}`}`,
    );
  }
  const { providerKind } = await import("#providers/index.ts");
  const kind = providerKind(provider.kind);
  if (kind === null)
    throw new CommandFailed(`provider ${id} is of kind ${provider.kind}, which this version does not support`);
  return { provider, kind };
}

function deployedModel(configSnapshot: ConfigSnapshot, provider: Provider): string | undefined {
  for (const model of configSnapshot.models.values()) {
    if (model.type !== "chat") continue;
    const found = model.deployments.find((deployment) => deployment.provider.id === provider.id);
    if (found !== undefined) return found.upstreamModel;
  }
  return undefined;
}
