import { missingModels } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

missingModels(rerankEndpoint);
