import { createModel, updateModel } from "../providers/models.ts";
import { createProvider } from "../providers/providers.ts";
import { findRow } from "../rows.ts";
import type { Importing } from "./import-records.ts";

export async function importProviders({ context, draft, earlier, made }: Importing): Promise<void> {
  for (const provider of draft.providers) {
    const source = { kind: "provider", source: provider.id } as const;
    if (earlier(source) !== null) continue;
    // Throws if the provider exists: another account must not serve the models.
    await createProvider(context, provider);
    made({ ...source, id: provider.id });
  }
}

/** Models first, then the models that they fall back to. */
export async function importModels({ context, draft, earlier, made, skip }: Importing): Promise<void> {
  const created: (typeof draft.models)[number][] = [];
  for (const model of draft.models) {
    const { name } = model;
    const source = { kind: "model", source: name } as const;
    if (earlier(source) !== null) continue;
    if ((await findRow(context.transaction, "models", { name })) !== undefined) {
      skip({ object: `model ${name}`, reason: "there is already such a model; it was not changed" });
      continue;
    }
    await createModel(context, { ...model, fallbacks: [] });
    created.push(model);
    made({ ...source, id: name });
  }
  for (const { name, fallbacks = [] } of created) {
    if (fallbacks.length === 0) continue;
    await updateModel(context, name, ({ price: _price, next_price: _next, ...before }) => ({
      ...before,
      deployments: before.deployments.map(({ id: _id, capabilities, ...rest }) => ({
        ...rest,
        ...(capabilities === null ? {} : { capabilities }),
      })),
      fallbacks,
    }));
  }
}
