import { otherMediaTypes } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

otherMediaTypes(rerankEndpoint);
