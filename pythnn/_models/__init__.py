"""What commands, reports and exports know of models: rows, inputs, images, runs, mistakes."""
