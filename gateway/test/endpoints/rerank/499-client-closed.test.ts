import { leavers } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

leavers(rerankEndpoint);
