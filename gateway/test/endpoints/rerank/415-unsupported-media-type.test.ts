import { otherMediaTypes } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

otherMediaTypes(rerankEndpoint);
