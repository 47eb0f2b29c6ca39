import type { Command } from "commander";
import type { ConfigSnapshot, Provider } from "#core/index.ts";
import type { ProviderKind } from "#providers/index.ts";
import { CommandFailed } from "../command-failed.ts";
import { environmentOf, withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addProviders(program: Command, terminal: Terminal): void {
  const provider = program.command("provider").description("list and test providers");
  addProviderList(provider, terminal);
  addProviderTest(provider, terminal);
  addModelList(program.command("model").description("list models"), terminal);
}

function addProviderList(provider: Command, terminal: Terminal): void {
  provider
    .command("list")
    .description("list providers, without their secrets")
    .action(async (_options: object, command: Command) => {
      const configSnapshot = await withControl(terminal.variables, ({ controlStore }) => controlStore.configSnapshot());
      const providers = [...configSnapshot.providers.values()].map(({ id, kind, baseUrl, enabled }) => ({
        ...{ id, kind, base_url: baseUrl, enabled },
        models: [...configSnapshot.models.values()]
          .filter(({ deployments }) => deployments.some((deployment) => deployment.provider.id === id))
          .map(({ name }) => name),
      }));
      const rows = providers.map(({ id, kind, base_url, enabled, models }) => [
        ...[id, kind, base_url, enabled ? "enabled" : "disabled", String(models.length)],
      ]);
      await report(
        terminal,
        command,
        { providers },
        providers.length === 0 ? ["no providers"] : columns([["ID", "KIND", "ADDRESS", "STATE", "MODELS"], ...rows]),
      );
    });
}

const modelsShownMax = 50;

function addProviderTest(parent: Command, terminal: Terminal): void {
  parent
    .command("test")
    .description("ask a provider for its models and for one word")
    .argument("<id>", "the provider's id")
    .option("--model <name>", "the name the provider knows (default: one that is deployed on it)")
    .action(async (id: string, options: { readonly model?: string }, command: Command) => {
      const environment = await environmentOf(terminal.variables);
      await withControl(terminal.variables, async ({ controlStore, clock }) => {
        const configSnapshot = await controlStore.configSnapshot();
        const { provider, kind } = await subjectOf(configSnapshot, id);
        const { ownProbe } = await import("../own-probe.ts");
        const probe = ownProbe(clock, environment);
        const { signal } = new AbortController();
        const listing = await probe.listModels(provider, kind, signal);
        const models = listing?.models?.map((each) => each.id) ?? null;
        const model =
          options.model ?? deployedModel(configSnapshot, provider) ?? kind.starterModels[0]?.name ?? models?.[0];
        if (model === undefined) throw new CommandFailed(`no model is known for provider ${id}; name one with --model`);
        const chat = await probe.ask(provider, kind, { upstreamModel: model, type: "chat" }, signal);
        if (chat === null) throw new CommandFailed(`provider ${id} has no endpoint to be tested with`);
        const data = {
          provider: id,
          kind: kind.id,
          model,
          ok: chat.problem === null,
          status: chat.status,
          latency_ms: Math.round(chat.ms),
          problem: chat.problem,
          advice: chat.advice,
          models,
        };
        const shown = models?.slice(0, modelsShownMax) ?? [];
        const rest = (models?.length ?? 0) - shown.length;
        await report(terminal, command, data, [
          `chat    ${model}: status ${chat.status === 0 ? "none" : chat.status}, ${Math.round(chat.ms)} ms`,
          models === null
            ? `models  no list (${listing === null ? "it tells none" : (listing.problem ?? "an answer of another shape")})`
            : `models  ${models.length}: ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`,
        ]);
        if (chat.problem !== null) {
          const advice = chat.advice === null ? "" : ` ${chat.advice}`;
          throw new CommandFailed(`provider ${id}: ${chat.problem}${advice}`);
        }
      });
    });
}

interface Subject {
  readonly provider: Provider;
  readonly kind: ProviderKind;
}

async function subjectOf(configSnapshot: ConfigSnapshot, id: string): Promise<Subject> {
  const provider = configSnapshot.providers.get(id);
  if (provider === undefined) {
    const known = [...configSnapshot.providers.keys()].join(", ");
    throw new CommandFailed(`there is no provider ${JSON.stringify(id)}; known: ${known === "" ? "none" : known}`);
  }
  const { providerKind } = await import("#providers/index.ts");
  const kind = providerKind(provider.kind);
  if (kind === null) throw new CommandFailed(`provider ${id} is of kind ${provider.kind}, which this version has not`);
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

function addModelList(model: Command, terminal: Terminal): void {
  model
    .command("list")
    .description("list models, where they are served, and whether they have a price")
    .action(async (_options: object, command: Command) => {
      const configSnapshot = await withControl(terminal.variables, ({ controlStore }) => controlStore.configSnapshot());
      const models = [...configSnapshot.models.values()].map(({ name, type, deployments, fallbacks, price }) => ({
        ...{ name, type, fallbacks, has_price: price !== null },
        deployments: deployments.map(({ id, provider, upstreamModel, enabled }) => ({
          ...{ id, provider: provider.id, upstream_model: upstreamModel, enabled: enabled && provider.enabled },
        })),
      }));
      const rows = models.map(({ name, type, has_price, deployments, fallbacks }) => [
        ...[name, type, has_price ? "yes" : "no"],
        deployments.map(({ provider, enabled }) => (enabled ? provider : `${provider} (disabled)`)).join(", "),
        fallbacks.join(", "),
      ]);
      await report(
        terminal,
        command,
        { models },
        models.length === 0 ? ["no models"] : columns([["NAME", "TYPE", "PRICE", "PROVIDERS", "FALLBACKS"], ...rows]),
      );
    });
}
