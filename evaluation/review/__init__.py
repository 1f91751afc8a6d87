"""Reviews: judgements of programs' texts that were made elsewhere, by people or language models.

`tasks` writes the texts, `answers` reads what came back, `scoring` scores it.
"""
