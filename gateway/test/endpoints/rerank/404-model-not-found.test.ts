import { missingModels } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

missingModels(rerankEndpoint);
